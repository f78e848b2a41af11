"""`callboard pause ID`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.diagnosis import Reason, reason_now, tell_reason
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target


@click.command("pause")
@click.argument("session", metavar="ID")
@click.option(
    "--interrupt", is_flag=True, help="Stop the running agent at once instead of letting it finish."
)
@click.option("--reason", metavar="TEXT", help="The reason.")
@options.by
@options.anywhere
def command(
    session: str,
    interrupt: bool,
    reason: str | None,
    by: str | None,
    place: Target,
    as_json: bool,
) -> None:
    """Pause a session, wherever it runs."""

    async def act(board: Board) -> tuple[str, bool, Reason]:
        session_id = (await find_session(board, place, session)).session_id
        new = await board.pause(session_id, interrupt=interrupt, by=by, reason=reason)
        return session_id, new, await reason_now(board, place, session_id)

    session_id, new, why = place.ask(act)
    if as_json:
        return print_json([{"ok": True, "sessionId": session_id, "wasPaused": new}])
    screen = Screen()
    if not new:
        screen.line(f"Nothing to pause in session {session_id}.")
    return tell_reason(screen, why)
