"""`callboard cancel ID`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.diagnosis import Reason, reason_now
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_result
from callboard.cli.targets import Target


@click.command("cancel")
@click.argument("session", metavar="ID")
@click.option("--reason", metavar="TEXT", help="The reason.")
@options.by
@options.anywhere
def command(session: str, reason: str | None, by: str | None, place: Target, as_json: bool) -> None:
    """Cancel a session. It cannot be resumed."""

    async def act(board: Board) -> tuple[str, bool, Reason]:
        session_id = (await find_session(board, place, session)).session_id
        new = await board.cancel(session_id, by=by, reason=reason)
        return session_id, new, await reason_now(board, place, session_id)

    session_id, new, why = place.ask(act)
    said = "is cancelled." if new else f"had already ended. {why.text}"
    document = {"ok": True, "sessionId": session_id, "wasCancelled": new}
    print_result(as_json, document, f"Session {session_id} {said}")
