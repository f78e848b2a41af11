"""`callboard rebuild`."""

import click

from callboard.cli import options
from callboard.cli.printing import print_result
from callboard.cli.targets import Database
from callboard.display.amounts import counted


@click.command("rebuild")
@options.common
def command(database: Database, as_json: bool) -> None:
    """Rebuild the query tables from the log.

    Nothing is lost: sessions, questions and timers are all derived from the events.
    """
    count = database.ask(lambda board: board.rebuild())
    document = {"ok": True, "events": count}
    print_result(as_json, document, f"Rebuilt from {counted(count, 'event')}.")
