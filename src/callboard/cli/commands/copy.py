"""`callboard copy --from PATH --to postgresql://…`."""

import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from callboard.cli import options
from callboard.cli.printing import Report, bar, print_result
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.display.amounts import counted
from callboard.errors import NotFound, ValidationError

if TYPE_CHECKING:
    from callboard.log.postgres.copying import CopyProgress, CopyResult


@click.command("copy")
@click.option(
    "--from",
    "source",
    metavar="PATH",
    required=True,
    shell_complete=options.complete_files,
    help="The SQLite database to copy.",
)
@click.option(
    "--to",
    "target",
    metavar="ADDRESS",
    required=True,
    help="An empty PostgreSQL database: postgresql://user@host/name. Its password: PGPASSWORD, "
    "or ~/.pgpass.",
)
@options.plain
def command(source: str, target: str, as_json: bool) -> None:
    """Copy a SQLite database into PostgreSQL.

    Copies everything: sessions, forks, questions, plates and tokens, with their ids. Then it
    compares both databases, and fails if anything differs. Stop all processes that use the
    database first. If the command is interrupted, run it again: it continues where it stopped.
    """
    database = Database(source)
    _check(database, Database(target))
    # Standard output may be for a program.
    with _bars(Screen(sys.stderr)) as progress:
        done = database.ask(lambda board: board.copy(target, progress))
    print_result(as_json, _document(done), _said(done))


def _check(source: Database, target: Database) -> None:
    if source.path.resolve() == target.path.resolve():
        raise ValidationError(f"--from and --to are the same database, {source.shown}.", field="to")
    if source.address is not None:
        raise ValidationError(
            f"{source.shown} is in PostgreSQL already. Copy it with pg_dump and pg_restore.",
            field="from",
        )
    if target.address is None:
        raise ValidationError(
            f"{target.shown} is not a PostgreSQL address, such as postgresql://user@host/name. "
            "To copy a file: callboard backup",
            field="to",
        )
    if not source.exists:
        raise NotFound(
            f"There is no database {source.path} to copy. Check --from.", path=str(source.path)
        )


@contextmanager
def _bars(screen: Screen) -> Generator["CopyProgress"]:
    """A progress bar for each part of the work, one at a time."""
    with ExitStack() as stack:
        shown: dict[str, Report] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in shown:
                stack.close()
                shown[what] = stack.enter_context(bar(screen, what))
            shown[what](done, total)

        yield progress


def _document(done: "CopyResult") -> dict[str, object]:
    found = done.compared
    return {
        "ok": True,
        "target": done.target,
        "streams": found.streams,
        "events": found.events,
        "eventsWritten": done.written,
        "rows": found.rows,
        "tokens": found.tokens,
        "digest": found.digest,
    }


def _said(done: "CopyResult") -> str:
    found = done.compared
    counts = (
        f"{counted(found.streams, 'stream')}, {counted(found.events, 'event')} and "
        f"{counted(found.tokens, 'token')}"
    )
    if found.events and not done.written:
        return f"{done.target} already has {counts}. Both databases are the same."
    return f"Copied {counts} to {done.target}. Both databases are the same."
