"""`callboard state ID`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.printing import pretty_json, print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.lines import visible


@click.command("state")
@click.argument("session", metavar="ID")
@click.option(
    "--at", type=click.IntRange(min=0), metavar="N", help="The position: after the first N events."
)
@options.anywhere
def command(session: str, at: int | None, place: Target, as_json: bool) -> None:
    """Print a session's state, now or at any position."""

    async def look(board: Board) -> dict[str, object]:
        info = await find_session(board, place, session)
        position = info.position if at is None else at
        state = await board.state(info.session_id, position)
        return {"sessionId": info.session_id, "position": position, "state": state}

    found = place.look(look)
    if as_json:
        return print_json([found])
    screen = Screen()
    for line in pretty_json(found["state"]).split("\n"):
        screen.line(visible(line))
    return None
