"""`callboard board`."""

import asyncio
import sys
from importlib.util import find_spec

import click

from callboard.cli import options
from callboard.cli.background import start_server
from callboard.cli.database import Database
from callboard.client.access import DEFAULT_URL, checked, find_token, is_loopback
from callboard.client.client import Client
from callboard.clock import SystemClock
from callboard.errors import MissingExtra, ServerUnreachable, ValidationError


@click.command("board")
@click.option("--start", is_flag=True, help="Start a server in the background if none answers.")
@options.by
@options.served
def command(server: str | None, database: Database, start: bool, by: str | None) -> None:
    """Show every session in the terminal, who needs you first; answer there.

    Sessions of coding agents and questions of workflows, live from a server. `?` lists the keys.
    """
    if find_spec("textual") is None:
        raise MissingExtra(
            "The board in the terminal needs Textual: pip install 'callboard[tui]'", extra="tui"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValidationError(
            "The board needs a terminal. For programs: callboard plates --json", field="terminal"
        )
    url = checked(server) if server else _address(database)
    asyncio.run(_show(url, database, start=start, by=by))


def _address(database: Database) -> str:
    """Where the database's own server is, as it tells hooks; else where servers usually are."""
    from callboard.board.places import connection_file, hooks_folder
    from callboard.server.presence import is_served

    if is_served(database.path):
        try:
            told = connection_file(hooks_folder(database.path)).read_text(encoding="utf-8")
            return checked(f"http://{told.splitlines()[0]}")
        except (OSError, IndexError, ValidationError):
            pass
    return DEFAULT_URL


async def _show(url: str, database: Database, *, start: bool, by: str | None) -> None:
    token = find_token(url, database.path)
    try:
        await _reach(url, token)
    except ServerUnreachable as error:
        if not start:
            raise ServerUnreachable(
                f"No server answers at {url}. Start one: {database.command('serve')} "
                f"(or let the board do it: {database.command('board', '--start')})",
                url=url,
            ) from error
        if not is_loopback(url):
            raise ValidationError(
                f"{url} is not on this machine; start the server there.", field="start"
            ) from error
        await start_server(url, database)
        token = find_token(url, database.path)
    from callboard.tui.app import BoardApp
    from callboard.tui.remote import ServerSource
    from callboard.tui.settings import settings_file

    # The board itself says when the server is gone, and since when.
    async with Client(url, token, via="tui", reconnect=0) as client:
        source = ServerSource(client, by)
        await BoardApp(source, SystemClock(), settings_file(), url).run_async()


async def _reach(url: str, token: str | None) -> None:
    """Find out what is wrong before the terminal is taken over."""
    async with Client(url, token, via="tui", timeout=10) as client:
        await client.plates.all()
