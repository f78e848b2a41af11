"""Starting a server that stays when the command that wanted it is gone."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from callboard.cli.database import Database
from callboard.client.access import find_token
from callboard.client.transport import Transport
from callboard.disk.private import make_private_folder, open_private
from callboard.errors import CallboardError, ServerUnreachable

_READY_WITHIN: Final = 20.0
_LOOK_EVERY: Final = 0.1


async def start_server(url: str, database: Database) -> None:
    """Start a server at this address, on its own; return when it answers."""
    server, log = _begin(url, database)
    try:
        async with asyncio.timeout(_READY_WITHIN):
            while not await _answers(url, database):
                if server.poll() is not None:
                    raise CallboardError(f"The server did not start. Its log: {log}")
                await asyncio.sleep(_LOOK_EVERY)
    except TimeoutError as error:
        raise CallboardError(f"The server does not answer yet. Its log: {log}") from error


def _begin(url: str, database: Database) -> "tuple[subprocess.Popen[bytes], Path]":
    parts = urlsplit(url)
    path = database.path.absolute()
    make_private_folder(path.parent)
    log = path.with_name(path.name + ".server.log")
    command = [
        *(sys.executable, "-m", "callboard", "serve", "--db", str(path)),
        *("--host", parts.hostname or "127.0.0.1", "--port", str(parts.port or 80)),
    ]
    with os.fdopen(open_private(log, os.O_APPEND), "ab") as out:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
    return server, log


async def _answers(url: str, database: Database) -> bool:
    transport = Transport(url, find_token(url, database.path), via="tui", timeout=5)
    try:
        await transport.get("/health")
    except ServerUnreachable:
        return False
    finally:
        await transport.close()
    return True
