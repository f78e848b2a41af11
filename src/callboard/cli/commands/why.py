"""`callboard why ID`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.diagnosis import Reason, reason, situation, tell_reason
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo


@click.command("why")
@click.argument("session", metavar="ID")
@options.anywhere
def command(session: str, place: Target, as_json: bool) -> None:
    """Explain what a session is waiting for, and how to unblock it."""

    async def look(board: Board) -> tuple[SessionInfo, Reason]:
        info = await find_session(board, place, session)
        return info, reason(await situation(board, place, info.session_id))

    info, why = place.look(look)
    if as_json:
        return print_json([why.to_wire(info.session_id, info.status)])
    return tell_reason(Screen(), why)
