"""`callboard board`."""

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from callboard.cli import options
from callboard.cli.targets import Database, ServerAccess, Target
from callboard.client.access import DEFAULT_URL, is_loopback
from callboard.client.client import Client
from callboard.clock import SystemClock
from callboard.disk.private import make_private_folder, open_private
from callboard.errors import CallboardError, MissingExtra, ServerUnreachable, ValidationError
from callboard.log.presence import servers_of

_READY_WITHIN: Final = 20.0
_LOOK_EVERY: Final = 0.1


@click.command("board")
@click.option("--start", is_flag=True, help="Start a server in the background if none is running.")
@click.option(
    "--sound",
    "sounds",
    multiple=True,
    metavar="SOUND",
    help="off, bell, tones (one per state), a WAV file, or STATE=SOUND; remembered.",
)
@options.by
@options.protocol
def command(place: Target, start: bool, sounds: tuple[str, ...], by: str | None) -> None:
    """Show every agent and question in the terminal, and answer there.

    Shows coding agents and workflow questions live from a server, those that need you first. `?`
    lists the keys.
    """
    if find_spec("textual") is None:
        raise MissingExtra(
            "The board in the terminal needs Textual: pip install 'callboard[tui]'", extra="tui"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ValidationError(
            f"The board needs a terminal. For programs: {place.command('plates', '--json')}",
            field="terminal",
        )
    _choose(sounds)
    asyncio.run(_show(place, start=start, by=by))


def _choose(sounds: tuple[str, ...]) -> None:
    """Save the sounds that a person wants."""
    from callboard.tui.settings import read_settings, settings_file, write_settings

    if sounds:
        write_settings(settings_file(), read_settings(settings_file()).hearing(sounds))


async def _show(place: Target, *, start: bool, by: str | None) -> None:
    try:
        url, token = await _reached(place)
    except ServerUnreachable as error:
        if not start:
            more = place.command("board", "--start")
            raise ServerUnreachable(
                f"{error.message} (or let the board start one: {more})", **error.context
            ) from error
        await start_server(place)
        url, token = await _reached(place)
    from callboard.tui.app import BoardApp
    from callboard.tui.settings import settings_file
    from callboard.tui.source import Source

    # The board itself shows when the server is gone, and since when.
    async with Client(url, token, via="tui", reconnect=0) as client:
        source = Source(client, by)
        await BoardApp(source, SystemClock(), settings_file(), url).run_async()


async def _reached(place: Target) -> ServerAccess:
    """The server, after one request: find errors before taking over the terminal."""
    server = place.server()
    async with Client(*server, via="tui", timeout=10) as client:
        await client.plates.all()
    return server


async def start_server(place: Target) -> None:
    """Start a server in the background; return when it is running."""
    database, host, port = _wanted(place)
    server, log = _begin(database, host, port)
    try:
        async with asyncio.timeout(_READY_WITHIN):
            while not any(one.url for one in servers_of(database.path)):
                if server.poll() is not None:
                    raise CallboardError(f"The server did not start. Its log: {log}")
                await asyncio.sleep(_LOOK_EVERY)
    except TimeoutError as error:
        raise CallboardError(f"The server is not responding yet. Its log: {log}") from error


def _wanted(place: Target) -> tuple[Database, str, int]:
    """The database for the new server, and the address to listen on."""
    if isinstance(place, Database):
        host, port = "127.0.0.1", urlsplit(DEFAULT_URL).port or 0
        return place, host, port if _is_free(host, port) else 0
    if not is_loopback(place.url):
        raise ValidationError(
            f"{place.url} is not on this machine; start the server there.", field="start"
        )
    parts = urlsplit(place.url)
    usual = Database(os.environ.get("CALLBOARD_DB") or None)
    return usual, parts.hostname or "127.0.0.1", parts.port or 80


def _is_free(host: str, port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _begin(database: Database, host: str, port: int) -> "tuple[subprocess.Popen[bytes], Path]":
    path = database.path.absolute()
    make_private_folder(path.parent)
    log = path.with_name(path.name + ".server.log")
    command = [
        *(sys.executable, "-m", "callboard", "serve"),
        *("--host", host, "--port", str(port)),
    ]
    # Not as an option: an address may contain a password.
    environment = {**os.environ, "CALLBOARD_DB": database.address or str(path)}
    with os.fdopen(open_private(log, os.O_APPEND), "ab") as out:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=environment,
        )
    return server, log
