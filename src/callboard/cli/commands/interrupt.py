"""`callboard interrupt PLATE`."""

import click

from callboard.board.messages import PlateInterrupted
from callboard.board.plate import Plate
from callboard.cli import options
from callboard.cli.exit import DONE, FAILED
from callboard.cli.lookup import find_plate
from callboard.cli.printing import print_result
from callboard.cli.steering import on_server
from callboard.cli.targets import Target
from callboard.client.client import Client
from callboard.display.lines import one_line


@click.command("interrupt")
@click.argument("plate", metavar="PLATE")
@options.anywhere
def command(plate: str, place: Target, as_json: bool) -> int:
    """Stop a coding agent's turn, as Esc does in its terminal.

    PLATE is a plate's id, the start of it, or its name. Needs a running server. The exit code is 1
    if the agent could not be interrupted, or its turn was over.
    """

    async def interrupt(client: Client) -> tuple[Plate, PlateInterrupted]:
        found = await find_plate(client, place, plate)
        return found, await client.messages.interrupt(found.plate_id)

    found, done = on_server(place, interrupt)
    agent = one_line(found.label)
    why = f" {one_line(done.note)}" if done.note else ""
    said = f"Interrupted {agent}." if done.was_interrupted else f"{agent} was not interrupted.{why}"
    print_result(as_json, done.to_wire(), said)
    return DONE if done.was_interrupted else FAILED
