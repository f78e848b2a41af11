"""The options that commands share."""

from collections.abc import Callable
from functools import wraps
from getpass import getuser
from typing import TYPE_CHECKING, TypeVar

import click

from callboard.cli.invocation import DB_HELP, Invocation
from callboard.cli.targets import Database, Target, choose

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., object])
Given = TypeVar("Given")
R = TypeVar("R")


def _typed(ctx: click.Context, db: str | None, server: str | None) -> Invocation:
    """The given values. Those after the command's name take precedence."""
    chosen: Invocation = ctx.obj or Invocation()
    return Invocation(
        db or chosen.db,
        server or chosen.server,
        db_was_typed=bool(db) or chosen.db_was_typed,
        server_was_typed=bool(server) or chosen.server_was_typed,
    )


def _refuse_server(ctx: click.Context) -> None:
    chosen: Invocation = ctx.obj or Invocation()
    if chosen.server_was_typed:
        raise click.UsageError(
            f"{ctx.info_name} works on a database of this machine, not on a server. "
            "Remove --server, or run it on the server's machine."
        )


def _database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Database:
    _refuse_server(ctx)
    return Database(_typed(ctx, given, None).db)


def _found_database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Database:
    _refuse_server(ctx)
    target = _chosen(ctx, _typed(ctx, given, None)._replace(server=None))
    assert isinstance(target, Database)
    return target


def _near_database(ctx: click.Context, parameter: click.Parameter, given: str | None) -> None:
    ctx.meta[_NEAR] = given


def _place(ctx: click.Context, parameter: click.Parameter, server: str | None) -> Target:
    return _chosen(ctx, _typed(ctx, ctx.meta.get(_NEAR), server))


def _chosen(ctx: click.Context, given: Invocation) -> Target:
    if given.db_was_typed and given.server_was_typed:
        raise click.UsageError("Give --db or --server, not both: a server has its own database.")
    target, note = choose(given)
    # With --json, standard error is for a program as well.
    if note is not None and not ctx.params.get("as_json") and not ctx.resilient_parsing:
        click.echo(note, err=True)
    return target


_NEAR = "callboard.db"
_FILE_HELP = "The database: a path or sqlite:///path."


def complete_files(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Let the shell complete file names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _db(text: str) -> Callable[[Command], Command]:
    return click.option(
        "--db",
        "database",
        metavar="PATH",
        callback=_database,
        shell_complete=complete_files,
        help=text,
    )


_FOUND_DB = click.option(
    "--db",
    "database",
    metavar="PATH",
    callback=_found_database,
    shell_complete=complete_files,
    help=DB_HELP,
)
_NEAR_DB = click.option(
    "--db",
    metavar="PATH",
    callback=_near_database,
    shell_complete=complete_files,
    expose_value=False,
    is_eager=True,  # So that it is known when the target is chosen.
    help=DB_HELP,
)
_SERVER = click.option(
    "--server",
    "place",
    metavar="URL",
    callback=_place,
    help="Use a server instead: http://host:port. Its token: CALLBOARD_TOKEN.",
)
_DEBUG = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show a traceback for errors."
)
_JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,  # So that it is known when the target is chosen.
    help="Print JSON.",
)


def common(function: Command) -> Command:
    """Add the options of commands that need the database itself: --db, --json, --debug."""
    return _db(DB_HELP)(_JSON(_DEBUG(function)))


def of_file(function: Command) -> Command:
    """The same for commands that need a database in a file."""
    return _db(_FILE_HELP)(_JSON(_DEBUG(function)))


def found(function: Command) -> Command:
    """The same for commands that work on the running server's database."""
    return _FOUND_DB(_JSON(_DEBUG(function)))


def anywhere(function: Command) -> Command:
    """Add the options of commands that also work on a server, including --server."""
    return _NEAR_DB(_SERVER(plain(function)))


def protocol(function: Command) -> Command:
    """The same without --json, for commands with their own protocol."""
    return _NEAR_DB(_SERVER(_DEBUG(function)))


def several(*given: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add options in order, for commands that have many."""

    def decorate(function: Command) -> Command:
        for option in reversed(given):
            function = option(function)
        return function

    return decorate


def collected(
    kind: Callable[..., Given],
) -> Callable[[Callable[[Given], R]], Callable[..., R]]:
    """Pass a command's options as one value, with a field for each option."""

    def decorate(function: Callable[[Given], R]) -> Callable[..., R]:
        @wraps(function)
        def call(**given: object) -> R:
            return function(kind(**given))

        return call

    return decorate


def plain(function: Command) -> Command:
    """Add the options of commands that need no database or server."""
    return _JSON(_DEBUG(function))


driving = click.option(
    "--auto-approve",
    is_flag=True,
    help="Approve every question and take the first option of every choice.",
)
"""The option of commands that drive a session here."""
workflow_file = click.option(
    "--file",
    metavar="FILE[:NAME]",
    help="The workflow's file, if it has moved since the session started.",
)
"""For a session whose workflow has moved."""


def user_name() -> str | None:
    """The name of the logged-in user, or None if the system has none."""
    try:
        return getuser()
    except (KeyError, OSError):
        return None


by = click.option(
    "--by", metavar="NAME", default=user_name, help="Your name, recorded with the action."
)
"""The name to record."""
