"""`callboard token create|list|revoke`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeVar

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.format import ago, moment, one_line
from callboard.cli.printing import Cell, print_json, print_result, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.units import period
from callboard.clock import SystemClock
from callboard.errors import NotFound
from callboard.events.access import Scope, Token
from callboard.events.moments import from_ms

_SCOPES: Final = ("read", "answer", "operate", "admin", "hook")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    action: str
    id: str | None
    database: Database
    as_json: bool
    name: str | None
    person: str | None
    scope: Scope | None
    groups: tuple[str, ...]
    host: str | None
    expires: timedelta | None


@click.command("token")
@click.argument("action", type=click.Choice(["create", "list", "revoke"]))
@click.argument("id", metavar="[ID]", required=False)
@click.option("--name", metavar="NAME", help="create: recorded with every action.")
@click.option(
    "--person", metavar="NAME", help="create: the person it stands for; the name by default."
)
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    help="create: what the token allows. Each scope includes the ones before it; hook can only "
    "send reports.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="create: a group that the person belongs to. Can be repeated.",
)
@click.option(
    "--host",
    metavar="HOST",
    help="create: the only host that it reports for. Whatever its reports say, they are recorded "
    "for this host.",
)
@click.option(
    "--expires", type=period, metavar="PERIOD", help="create: when it expires, such as 90d."
)
@options.found
@options.collected(_Typed)
def command(typed: _Typed) -> None:
    """Create, list and revoke access tokens.

    Works directly on the database; a running server picks up changes at once. The secret is shown
    only once, when the token is created.
    """
    {"create": _create, "list": _list, "revoke": _revoke}[typed.action](typed)


def _ask(database: Database, work: Callable[[Callboard], Awaitable[T]]) -> T:
    """Work on an existing database, or on the default one."""
    if not database.is_default and not database.exists:
        raise NotFound(
            f"There is no database {database.path}. Check --db (or CALLBOARD_DB).",
            path=str(database.path),
        )
    return database.ask(work)


def _create(typed: _Typed) -> None:
    name, scope, database = typed.name, typed.scope, typed.database
    if name is None or scope is None:
        missing = "--name" if name is None else "--scope"
        example = database.command("token", "create", "--name", "ci", "--scope", "operate")
        raise click.UsageError(f"Missing option {missing!r}, as in: {example}")
    made = _ask(
        database,
        lambda board: board.tokens.create(
            name,
            scope,
            person=typed.person,
            groups=typed.groups,
            host=typed.host,
            expires=typed.expires,
        ),
    )
    if typed.as_json:
        return print_json([{**made.token.to_wire(), "token": made.secret}])
    # Alone on standard output, so that a script can read it; the rest is for people.
    click.echo(made.secret)
    revoke = database.command("token", "revoke", made.token.id)
    return click.echo(f"This secret is shown only once. Revoke it with: {revoke}", err=True)


def _revoke(typed: _Typed) -> None:
    database, id = typed.database, typed.id
    listing = f"List them with: {database.command('token', 'list')}"
    if id is None:
        raise click.UsageError(f"Missing argument 'ID'. {listing}")
    try:
        token = _ask(database, lambda board: board.tokens.revoke(id))
    except NotFound as error:
        raise NotFound(f"There is no token {id!r}. {listing}", id=id) from error
    print_result(
        typed.as_json,
        {"ok": True, "id": token.id},
        f"Revoked {token.id} ({one_line(token.name)}).",
    )


def _list(typed: _Typed) -> None:
    found = _ask(typed.database, lambda board: board.tokens.list())
    if typed.as_json:
        return print_json(token.to_wire() for token in found)
    screen = Screen()
    if not found:
        example = ("token", "create", "--name", "ci", "--scope", "operate")
        create = (typed.database.command(*example), "command")
        return screen.line("No tokens yet. Create one: ", create)
    now_ms = SystemClock().now_ms()
    # Few people have tokens that are limited to a host.
    hosts = ["host"] if any(token.host is not None for token in found) else []
    heads = ["token", "name", "person", "scope", "groups", *hosts, "created", "expires"]
    rows = [_row(token, now_ms, shows_host=bool(hosts)) for token in found]
    return print_table(screen, heads, rows)


def _row(token: Token, now_ms: int, *, shows_host: bool) -> list[Cell]:
    now = from_ms(now_ms)
    until: Cell = "never"
    if token.expires_at is not None:
        until = moment(from_ms(token.expires_at), now)
        if token.is_expired(now_ms):
            until = (f"expired {ago(from_ms(token.expires_at), now)}", "failed")
    who = [token.id, one_line(token.name), one_line(token.person), token.scope]
    groups = one_line(", ".join(token.groups)) or "none"
    hosts = [one_line(token.host or "any")] if shows_host else []
    return [*who, groups, *hosts, ago(from_ms(token.created_at), now), until]
