"""`callboard why ID`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.reasons import Reason, reason
from callboard.cli.screen import Screen
from callboard.cli.standing import situation, tell_ways
from callboard.engine.sessions import SessionInfo


@click.command("why")
@click.argument("session", metavar="ID")
@options.anywhere
def command(session: str, place: Place, as_json: bool) -> None:
    """Say what a session waits for, and what unblocks it."""

    async def look(board: Board) -> tuple[SessionInfo, Reason]:
        info = await find_session(board, place, session)
        return info, reason(await situation(board, place, info.session_id))

    info, why = place.ask(look)
    if as_json:
        return print_json([why.to_wire(info.session_id, info.status)])
    screen = Screen()
    screen.paragraph(why.text)
    tell_ways(screen, why)
    return None
