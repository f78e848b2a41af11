"""`callboard cancel ID`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.reasons import Reason
from callboard.cli.screen import Screen
from callboard.cli.standing import reason_now


@click.command("cancel")
@click.argument("session", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why.")
@options.by
@options.anywhere
def command(session: str, reason: str | None, by: str | None, place: Place, as_json: bool) -> None:
    """End a session for good."""

    async def act(board: Board) -> tuple[str, bool, Reason]:
        session_id = (await find_session(board, place, session)).session_id
        new = await board.cancel(session_id, by=by, reason=reason)
        return session_id, new, await reason_now(board, place, session_id)

    session_id, new, why = place.ask(act)
    if as_json:
        return print_json([{"ok": True, "sessionId": session_id, "wasCancelled": new}])
    screen = Screen()
    if new:
        screen.line(f"Session {session_id} is cancelled.")
    else:
        screen.line(f"Session {session_id} had ended already. {why.text}")
    return None
