"""The options that commands share."""

from collections.abc import Callable
from getpass import getuser
from typing import Any, TypeVar

import click

from callboard.cli.choice import Choice
from callboard.cli.database import Database
from callboard.cli.places import Place

Command = TypeVar("Command", bound=Callable[..., Any])


def _database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Database:
    # Before the command's name it means the same; after it is nearer, and wins.
    chosen: Choice = ctx.obj or Choice()
    if chosen.server_was_typed and all(one.name != "server" for one in ctx.command.params):
        raise click.UsageError(
            f"{ctx.info_name} works on a database of this machine, not on a server. "
            "Leave --server out, or run it where the server's database is."
        )
    return Database(given or chosen.db or None)


def _near_database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> None:
    ctx.meta[_NEAR] = given


def _place(ctx: click.Context, parameter: click.Parameter, server: str | None) -> Place:
    chosen: Choice = ctx.obj or Choice()
    db: str | None = ctx.meta.get(_NEAR)
    if (db or chosen.db_was_typed) and (server or chosen.server_was_typed):
        raise click.UsageError("Give --db or --server, not both: a server has its own database.")
    # What was typed is meant; the environment only says what is usual.
    if server or (chosen.server and not (db or chosen.db_was_typed)):
        from callboard.cli.remote import Server
        from callboard.client.access import checked

        return Server(checked(server or chosen.server or ""))
    return Database(db or chosen.db or None)


_NEAR = "callboard.db"
_DB_HELP = "The database: a path or sqlite:///path."
_DB = click.option("--db", "database", metavar="PATH", callback=_database, help=_DB_HELP)
_NEAR_DB = click.option(
    "--db",
    metavar="PATH",
    callback=_near_database,
    expose_value=False,
    is_eager=True,  # So that it is known when the place is chosen.
    help=_DB_HELP,
)
_SERVER = click.option(
    "--server",
    "place",
    metavar="URL",
    callback=_place,
    help="A server instead: http://host:port. Its token: CALLBOARD_TOKEN.",
)
_DEBUG = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show where an error comes from."
)
_URL = click.option(
    "--server",
    metavar="URL",
    envvar="CALLBOARD_SERVER",
    help="The server: http://host:port. Also CALLBOARD_SERVER. Its token: CALLBOARD_TOKEN.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def common(function: Command) -> Command:
    """Add what every command takes that needs the database itself: --db, --json, --debug."""
    return _DB(_JSON(_DEBUG(function)))


def anywhere(function: Command) -> Command:
    """Add what every command takes that works on a server too, --server among it."""
    return _NEAR_DB(_SERVER(_JSON(_DEBUG(function))))


def plain(function: Command) -> Command:
    """Add what every command takes that needs no place at all."""
    return _JSON(_DEBUG(function))


def served(function: Command) -> Command:
    """Add what a command takes that needs a server itself; --db says whose token opens it."""
    return _URL(_DB(_DEBUG(function)))


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
