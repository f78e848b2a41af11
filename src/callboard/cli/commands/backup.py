"""`callboard backup [PATH]`."""

import sys
from datetime import datetime
from pathlib import Path

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.doctor.findings import amount
from callboard.cli.printing import bar, print_result
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.errors import NotFound
from callboard.events.moments import from_ms


@click.command("backup")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@options.of_file
def command(path: Path | None, force: bool, database: Database, as_json: bool) -> None:
    """Copy the database while it is in use.

    The copy is consistent, verified, and readable only by you. Without PATH it is saved next to
    the database, with the date in its name. To restore it, stop everything that uses the
    database and move the copy into its place.
    """
    if not database.exists:
        raise NotFound(
            f"There is no database {database.path} to copy. Check --db (or CALLBOARD_DB).",
            path=str(database.path),
        )

    async def act(board: Callboard) -> Path:
        target = path or dated(database.path, from_ms(board.clock.now_ms()))
        # Standard output may be for a program.
        with bar(Screen(sys.stderr), "Copying") as report:
            return await board.backup(target, report, overwrite=force)

    copy = database.ask(act)
    size = copy.stat().st_size
    document = {"ok": True, "path": str(copy), "bytes": size}
    print_result(as_json, document, f"Copied {amount(size)} to {copy}")


def dated(database: Path, now: datetime) -> Path:
    """The default path of a copy."""
    moment = now.astimezone().strftime("%Y-%m-%d-%H%M%S")
    return database.with_name(f"{database.stem}-{moment}{database.suffix}")
