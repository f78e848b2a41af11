"""The options that commands share."""

from collections.abc import Callable
from getpass import getuser
from typing import Any, TypeVar

import click

from callboard.cli.database import Database

Command = TypeVar("Command", bound=Callable[..., Any])


def _database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Database:
    # Before the command's name it means the same; after it is nearer, and wins.
    return Database(given or ctx.obj or None)


_DB = click.option(
    "--db",
    "database",
    metavar="PATH",
    callback=_database,
    help="The database: a path or sqlite:///path.",
)
_DEBUG = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show where an error comes from."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def common(function: Command) -> Command:
    """Add what every command takes: --db, --json, --debug."""
    return _DB(_JSON(_DEBUG(function)))


def driving(function: Command) -> Command:
    """Add what every command takes that drives a session here."""
    auto = click.option(
        "--auto-approve", is_flag=True, help="Approve everything, take every first option."
    )
    return auto(function)


def workflow_file(function: Command) -> Command:
    """Add --file, for a session whose workflow is no longer where it was."""
    option = click.option(
        "--file",
        "file",
        metavar="FILE[:NAME]",
        help="Where the workflow is, if it is not where the session was begun from.",
    )
    return option(function)


def by(function: Command) -> Command:
    """Add --by, whose name is recorded."""
    option = click.option("--by", metavar="NAME", default=user_name, help="Who does this.")
    return option(function)


def user_name() -> str | None:
    """The name of whoever is logged in, or None where the system knows none."""
    try:
        return getuser()
    except (KeyError, OSError):
        return None
