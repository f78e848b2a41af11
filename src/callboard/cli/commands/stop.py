"""`callboard stop PLATE`."""

import click

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.lookup import find_plate
from callboard.cli.person import STOPS, ask_as_person
from callboard.cli.printing import print_result
from callboard.cli.targets import Target
from callboard.vendors.acp.payloads import NAME as ACP


@click.command("stop")
@click.argument("plate", metavar="PLATE")
@options.anywhere
def command(plate: str, place: Target, as_json: bool) -> None:
    """Stop a coding agent that was started with `callboard start`.

    It is asked to exit, and killed if it hasn't after five seconds. Its session can be resumed.
    """

    async def stop(board: Board) -> Plate:
        return await board.starting.stop((await find_plate(board, place, plate)).plate_id)

    found = ask_as_person(place, STOPS, stop)
    again = place.command("start", "--resume", found.plate_id)
    if found.agent == ACP:
        again = place.command("start", ACP, "--resume", found.plate_id, "--", "COMMAND")
    print_result(as_json, found.to_wire(), f"Stopping {found.agent}. Resume it later: {again}")
