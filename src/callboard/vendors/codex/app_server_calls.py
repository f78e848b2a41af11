"""Calls to Codex's app server, over one short connection."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final

from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import Object, as_object
from callboard.vendors.codex.app_server import control_socket, greeting, own_socket
from callboard.vendors.codex.websocket import WebSocket
from callboard.vendors.fields import text

ANSWERS_WITHIN: Final = 3.0
"""Seconds for each call, and for connecting."""


class CallRefused(ValueError):
    """The server answered that it didn't do what was asked, and why."""


class AppServerCalls:
    """A connection to the server, on which one task makes one call after the other."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._count = 0

    async def call(self, method: str, params: Object) -> Object:
        """The result. CallRefused if it was not done; any other error leaves that open."""
        self._count += 1
        id = self._count
        async with asyncio.timeout(ANSWERS_WITHIN):
            request = {"id": id, "method": method, "params": params}
            await self._socket.send(dump_json(request))
            while True:
                told = as_object(load_json(await self._socket.receive()))
                if told.get("id") == id and "method" not in told:
                    return _result(told)

    async def greet(self) -> None:
        """Introduce ourselves."""
        await self.call("initialize", greeting())
        await self._socket.send(dump_json({"method": "initialized"}))


@asynccontextmanager
async def app_server_calls(place: Path | None = None) -> AsyncGenerator[AppServerCalls]:
    """A connection; OSError, ValueError or TimeoutError if there is none to be had."""
    path = own_socket(place or control_socket())
    if path is None:
        raise ConnectionRefusedError("Codex's app server isn't running")
    async with asyncio.timeout(ANSWERS_WITHIN):
        socket = await WebSocket.open(path)
    with closing(socket):
        calls = AppServerCalls(socket)
        await calls.greet()
        yield calls


def _result(told: Object) -> Object:
    if "error" in told:
        raise CallRefused(text(as_object(told["error"]).get("message")) or "it refused")
    return as_object(told.get("result"))
