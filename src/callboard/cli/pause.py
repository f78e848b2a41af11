"""`callboard pause ID`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.reasons import Reason
from callboard.cli.screen import Screen
from callboard.cli.standing import reason_now, tell_ways


@click.command("pause")
@click.argument("session", metavar="ID")
@click.option("--interrupt", is_flag=True, help="Stop the agent that works now; else it finishes.")
@click.option("--reason", metavar="TEXT", help="Why.")
@options.by
@options.anywhere
def command(
    session: str,
    interrupt: bool,
    reason: str | None,
    by: str | None,
    place: Place,
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
    screen.paragraph(why.text)
    tell_ways(screen, why)
    return None
