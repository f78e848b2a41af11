"""`callboard rename ID TITLE`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import one_line
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_result
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo


@click.command("rename")
@click.argument("session", metavar="ID")
@click.argument("title", metavar="TITLE")
@options.by
@options.anywhere
def command(session: str, title: str, by: str | None, place: Target, as_json: bool) -> None:
    """Change the title of a session.

    An empty TITLE removes it.
    """

    async def act(board: Board) -> SessionInfo:
        session_id = (await find_session(board, place, session)).session_id
        return await board.rename(session_id, title, by=by)

    info = place.ask(act)
    said = f"is now called {one_line(info.title)}." if info.title else "no longer has a title."
    print_result(as_json, info.to_wire(), f"Session {info.session_id} {said}")
