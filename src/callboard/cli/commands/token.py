"""`callboard token create|list|revoke`."""

from datetime import timedelta
from typing import Any, Final

import click

from callboard.cli import options
from callboard.cli.format import ago, moment, one_line
from callboard.cli.printing import Cell, print_json, print_result, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.units import period
from callboard.clock import SystemClock
from callboard.disk.private import make_private_folder
from callboard.errors import NotFound
from callboard.events.moments import from_ms
from callboard.server.access.scopes import Scope
from callboard.server.access.tokens import Token, Tokens

_SCOPES: Final = ("read", "answer", "operate", "admin", "hook")


@click.command("token")
@click.argument("action", type=click.Choice(["create", "list", "revoke"]))
@click.argument("id", metavar="[ID]", required=False)
@click.option(
    "--name", metavar="NAME", help="create: the name of its user; recorded with their actions."
)
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    help="create: what the token allows. Each scope includes the ones before it; hook can only "
    "send reports.",
)
@click.option(
    "--expires", type=period, metavar="PERIOD", help="create: when it expires, such as 90d."
)
@options.found
def command(action: str, id: str | None, database: Database, as_json: bool, **made: Any) -> None:
    """Create, list and revoke the tokens of a server.

    Works directly on the database; a running server picks up changes at once. A token is shown
    only once, when it is created.
    """
    tokens = _tokens(database)
    if action == "create":
        _create(tokens, database, as_json, **made)
    elif action == "revoke":
        _revoke(tokens, database, id, as_json)
    else:
        _list(tokens, database, as_json)


def _tokens(database: Database) -> Tokens:
    """The tokens beside a database that is there, or beside the default one."""
    if not database.is_default and not database.path.exists():
        raise NotFound(
            f"There is no database {database.path}. Check --db (or CALLBOARD_DB).",
            path=str(database.path),
        )
    make_private_folder(database.path.parent)
    return Tokens(database.path, SystemClock())


def _create(
    tokens: Tokens,
    database: Database,
    as_json: bool,
    name: str | None,
    scope: Scope | None,
    expires: timedelta | None,
) -> None:
    if name is None or scope is None:
        missing = "--name" if name is None else "--scope"
        example = database.command("token", "create", "--name", "ci", "--scope", "operate")
        raise click.UsageError(f"Missing option {missing!r}, as in: {example}")
    token, secret = tokens.create(name, scope, expires)
    if as_json:
        return print_json([{**token.to_wire(), "token": secret}])
    # Alone on standard output, so that a script can take it; the rest is for people.
    click.echo(secret)
    revoke = database.command("token", "revoke", token.id)
    return click.echo(f"It is shown only now. Take it back with: {revoke}", err=True)


def _revoke(tokens: Tokens, database: Database, id: str | None, as_json: bool) -> None:
    listing = f"List them with: {database.command('token', 'list')}"
    if id is None:
        raise click.UsageError(f"Missing argument 'ID'. {listing}")
    try:
        token = tokens.revoke(id)
    except NotFound as error:
        raise NotFound(f"There is no token {id!r}. {listing}", id=id) from error
    print_result(
        as_json,
        {"ok": True, "id": token.id},
        f"Revoked {token.id}, the token of {one_line(token.name)}.",
    )


def _list(tokens: Tokens, database: Database, as_json: bool) -> None:
    found = tokens.list()
    if as_json:
        return print_json(token.to_wire() for token in found)
    screen = Screen()
    if not found:
        create = database.command("token", "create", "--name", "ci", "--scope", "operate")
        made = (create, "command")
        return screen.line("There is no token but the server's own. Make one: ", made)
    now_ms = SystemClock().now_ms()
    rows = [_row(token, now_ms) for token in found]
    return print_table(screen, ["token", "name", "scope", "made", "expires"], rows)


def _row(token: Token, now_ms: int) -> list[Cell]:
    now = from_ms(now_ms)
    until: Cell = "never"
    if token.expires_at is not None:
        until = moment(from_ms(token.expires_at), now)
        if token.expires_at <= now_ms:
            until = (f"expired {ago(from_ms(token.expires_at), now)}", "failed")
    return [token.id, one_line(token.name), token.scope, ago(from_ms(token.created_at), now), until]
