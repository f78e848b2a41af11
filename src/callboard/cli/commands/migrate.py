"""`callboard migrate`."""

import asyncio

import click

from callboard.app import migrate
from callboard.cli import options
from callboard.cli.printing import print_result
from callboard.cli.targets import Database


@click.command("migrate")
@options.common
def command(database: Database, as_json: bool) -> None:
    """Bring a database to this version's schema, before servers start.

    Creates the database if it is a file that doesn't exist. Opening a database does the same;
    use this command to do it once, in a deployment. A file is first copied next to itself, as
    NAME.before-migration-from-N.
    """
    before, after = asyncio.run(migrate(database.address or database.path))
    document = {"ok": True, "database": database.shown, "from": before or None, "to": after}
    print_result(as_json, document, _said(database.shown, before, after))


def _said(name: str, before: int, after: int) -> str:
    if before == after:
        return f"{name} is up to date (schema version {after})."
    if not before:
        return f"Created schema version {after} in {name}."
    return f"Migrated {name} from schema version {before} to {after}."
