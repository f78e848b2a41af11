"""`callboard relay`."""

import asyncio
import json
import os
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

import callboard.relay.__main__ as relay_process
from callboard.board.hosts import host_file, kept_id
from callboard.cli import options
from callboard.cli.relay_place import relay_folder
from callboard.errors import Forbidden, NotFound, ServerUnreachable, StoreError
from callboard.events.json_values import as_object, as_text
from callboard.relay.http import HttpConnection, HttpFailed, ServerUrl
from callboard.relay.settings import (
    POWERS,
    Power,
    RelaySettings,
    granted,
    read_settings,
    write_settings,
)
from callboard.relay.uplink import is_ours, message_of

_CREATED: Final = 201
_UNKNOWN: Final = 404


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    server: str | None
    code: str | None
    ca_file: Path | None
    name: str | None
    powers: tuple[Power, ...] | None


def _powers(
    context: click.Context, option: click.Parameter, typed: str | None
) -> tuple[Power, ...] | None:
    """Powers with commas between them; `none` takes all of them back."""
    if typed is None:
        return None
    names = [one.strip() for one in typed.split(",")]
    unknown = sorted(set(names) - {*POWERS})
    if unknown and names != ["none"]:
        known = ", ".join(POWERS)
        raise click.BadParameter(f"{unknown[0]!r} is not a power. Use {known}, or none.")
    return granted(names)


@click.command("relay")
@click.option("--server", metavar="URL", help="The server. It is remembered.")
@click.option("--pair", "code", metavar="CODE", help="The code that `callboard pair` shows there.")
@click.option(
    "--ca-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Trust these certificates instead of the system's.",
)
@click.option("--name", metavar="NAME", help="What people call this machine; its host name.")
@click.option(
    "--allow",
    "powers",
    callback=_powers,
    metavar="POWERS",
    help="What servers may do here, besides getting reports and deciding: read, say, start, with "
    "commas; none takes all back. It is remembered.",
)
@options.collected(_Typed)
def command(typed: _Typed) -> None:
    """Report the coding agents of this machine to a server on another one.

    Pair this machine first: `callboard pair` on the server shows a code. Reports are kept on disk
    while the server can't be reached, and permissions are answered on the server's board.
    """
    folder = relay_folder()
    settings = _paired(typed) if typed.code is not None else _known(folder, typed)
    ServerUrl.parse(settings.server)
    write_settings(folder, settings)
    become_relay(folder)


def move_to(server: str) -> None:
    """Check the address of a server, and let a paired machine report there."""
    ServerUrl.parse(server)
    folder = relay_folder()
    with suppress(NotFound):
        write_settings(folder, replace(read_settings(folder), server=server))


def become_relay(folder: Path) -> None:
    """Replace this process with the relay's, which needs a fraction of the memory."""
    # Without site-packages where nothing from there is needed.
    flags = ["-I", "-S"] if sys.platform == "linux" else ["-I"]
    program = [sys.executable, *flags, str(relay_process.__file__)]
    # A second thread, which looks up names, needs no memory pool of its own (glibc).
    environment = {"MALLOC_ARENA_MAX": "1", **os.environ}
    os.execve(sys.executable, [*program, str(folder), version("callboard")], environment)


def _known(folder: Path, typed: _Typed) -> RelaySettings:
    """The settings from the last time, with what was typed now."""
    before = read_settings(folder)
    return RelaySettings(
        server=typed.server or before.server,
        token=before.token,
        host=before.host,
        name=typed.name or before.name,
        ca_file=str(typed.ca_file.absolute()) if typed.ca_file else before.ca_file,
        powers=before.powers if typed.powers is None else typed.powers,
    )


def _paired(typed: _Typed) -> RelaySettings:
    if typed.server is None:
        raise click.UsageError("Missing option '--server': the address that the code is for.")
    try:
        host = kept_id(host_file())
    except OSError as error:
        raise StoreError(f"This machine's id cannot be stored: {error}") from error
    name = typed.name or socket.gethostname()
    told = {"code": typed.code, "host": host, "name": name}
    token = asyncio.run(_exchange(ServerUrl.parse(typed.server), typed.ca_file, told))
    ca_file = str(typed.ca_file.absolute()) if typed.ca_file else None
    return RelaySettings(typed.server, token, host, name, ca_file, typed.powers or ())


async def _exchange(url: ServerUrl, ca_file: Path | None, told: dict[str, str | None]) -> str:
    connection = HttpConnection(url, "", ca_file)
    try:
        headers = {"Content-Type": "application/json"}
        reply = await connection.post("/relay/pair", json.dumps(told).encode(), headers)
    except HttpFailed as error:
        raise ServerUnreachable(f"{url} can't be reached: {error}.") from error
    finally:
        connection.close()
    if reply.status == _CREATED:
        with suppress(ValueError):
            return as_text(as_object(json.loads(reply.body)).get("token"))
    if reply.status == _UNKNOWN:
        raise NotFound(f"{url} is not a Callboard server that knows relays. Update it first.")
    if not is_ours(reply):
        raise ServerUnreachable(
            f"{url} doesn't respond as a Callboard server: {message_of(reply)}. Check the address, "
            "and the proxy in front of the server."
        )
    raise Forbidden(message_of(reply))
