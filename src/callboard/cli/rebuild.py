"""`callboard rebuild`."""

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.wording import plural


@click.command("rebuild")
@options.common
def command(database: Database, as_json: bool) -> None:
    """Make the tables that people query again from the log.

    Nothing is lost by it: sessions, questions and timers are all told by the events.
    """

    async def act(board: Callboard) -> int:
        return await board.rebuild()

    count = database.ask(act)
    if as_json:
        return print_json([{"ok": True, "events": count}])
    Screen().line(f"Rebuilt from {plural(count, 'event')}.")
    return None
