"""`callboard cancel ID`."""

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.reasons import Reason
from callboard.cli.screen import Screen
from callboard.cli.standing import reason_now


@click.command("cancel")
@click.argument("session", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why.")
@options.by
@options.common
def command(
    session: str, reason: str | None, by: str | None, database: Database, as_json: bool
) -> None:
    """End a session for good."""

    async def act(board: Callboard) -> tuple[str, bool, Reason]:
        session_id = (await find_session(board, database, session)).session_id
        new = await board.cancel(session_id, by=by, reason=reason)
        return session_id, new, await reason_now(board, database, session_id)

    session_id, new, why = database.ask(act)
    if as_json:
        return print_json([{"ok": True, "sessionId": session_id, "wasCancelled": new}])
    screen = Screen()
    if new:
        screen.line(f"Session {session_id} is cancelled.")
    else:
        screen.line(f"Session {session_id} had ended already. {why.text}")
    return None
