"""`callboard state ID`."""

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.lookup import find_session
from callboard.cli.printing import pretty_json, print_json
from callboard.cli.screen import Screen
from callboard.handlers.terminal import visible
from callboard.state.session import SessionView


@click.command("state")
@click.argument("session", metavar="ID")
@click.option("--at", type=click.IntRange(min=0), metavar="N", help="After the first N events.")
@options.common
def command(session: str, at: int | None, database: Database, as_json: bool) -> None:
    """Print a session's state, now or at any position."""

    async def look(board: Callboard) -> SessionView:
        return await board.view((await find_session(board, database, session)).session_id, at)

    view = database.ask(look)
    if as_json:
        wire = {"sessionId": view.session_id, "position": view.position, "state": view.state}
        return print_json([wire])
    screen = Screen()
    for line in pretty_json(view.state).split("\n"):
        screen.line(visible(line))
    return None
