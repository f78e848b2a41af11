"""Reads the status of threads from Codex's app server, on the socket that its terminals use.

By default, all terminals of a user share one such server, which runs their sessions (it calls them
threads) and outlives them. The protocol isn't guaranteed to stay the same, so this only corrects
what hooks report: a server that can't be reached or understood is ignored.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from callboard.events.codec import dump_json, load_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object
from callboard.vendors.claude.registry import Registered
from callboard.vendors.codex.settings import home
from callboard.vendors.codex.websocket import WebSocket
from callboard.vendors.fields import whole, word
from callboard.vendors.metadata import LARGEST_MOMENT

_log = logging.getLogger(__name__)

TRY_AGAIN: Final = 2.0
"""Seconds until reconnecting to a server that couldn't be reached or hung up."""
ANSWERS_WITHIN: Final = 5.0
MOST_THREADS: Final = 500
"""How many threads to ask about at first, and to remember."""
_WAITS: Final = frozenset({"waitingOnApproval", "waitingOnUserInput"})


def control_socket() -> Path:
    """Where this user's app server listens."""
    return home() / "app-server-control" / "app-server-control.sock"


def own_socket(place: Path) -> str | None:
    """The socket, if it is our own. A link leads to it, because socket paths must be short."""
    path = os.path.realpath(place)
    try:
        return path if os.lstat(path).st_uid == os.getuid() else None
    except OSError:
        return None


def greeting() -> dict[str, Json]:
    """How we introduce ourselves, with `initialize`; `initialized` has to follow."""
    return {"clientInfo": {"name": "callboard", "title": "Callboard", "version": "1"}}


class AppServer:
    """Follows the status of all threads while it is needed."""

    def __init__(self, socket: Callable[[], Path] = control_socket) -> None:
        self._socket = socket
        self._threads: dict[str, Registered] = {}
        self._task: asyncio.Task[None] | None = None

    def thread(self, id: str) -> Registered | None:
        """What the server reports about a loaded thread; None if it reports nothing."""
        return self._threads.get(id)

    def follow(self, wanted: bool) -> None:
        """Start or stop keeping a connection."""
        if wanted and self._task is None and own_socket(self._socket()) is not None:
            self._task = asyncio.create_task(self._stay_connected())
        elif not wanted and self._task is not None:
            self._task.cancel()
            self._task = None

    async def stop(self) -> None:
        """Disconnect."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _stay_connected(self) -> None:
        while True:
            try:
                if (path := own_socket(self._socket())) is not None:
                    await self._listen(path)
            except (OSError, ValueError, TimeoutError) as error:
                _log.debug("Codex's app server cannot be followed: %s", error)
            finally:
                self._threads.clear()
            await asyncio.sleep(TRY_AGAIN)

    async def _listen(self, path: str) -> None:
        async with asyncio.timeout(ANSWERS_WITHIN):
            socket = await WebSocket.open(path)
        with contextlib.closing(socket):
            async with asyncio.timeout(ANSWERS_WITHIN):
                await self._greet(socket)
            while True:
                self._hear(as_object(load_json(await socket.receive())))

    async def _greet(self, socket: WebSocket) -> None:
        """Introduce ourselves and ask for the status of all threads; later, only changes come."""
        await self._ask(socket, 1, "initialize", greeting())
        await socket.send(dump_json({"method": "initialized"}))
        loaded = await self._ask(socket, 2, "thread/loaded/list", {"limit": MOST_THREADS})
        for number, id in enumerate(as_list(loaded.get("data"))[:MOST_THREADS], 3):
            found = await self._ask(socket, number, "thread/read", {"threadId": id})
            if id not in self._threads:
                self._note(id, as_object(found.get("thread")).get("status"), 0)

    async def _ask(
        self, socket: WebSocket, id: int, method: str, params: dict[str, Json]
    ) -> Object:
        await socket.send(dump_json({"id": id, "method": method, "params": params}))
        while True:
            told = as_object(load_json(await socket.receive()))
            if told.get("id") == id and "method" not in told:
                return as_object(told.get("result"))
            self._hear(told)

    def _hear(self, told: Object) -> None:
        params = as_object(told.get("params"))
        if told.get("method") == "thread/status/changed":
            at_ms = whole(told.get("emittedAtMs"), LARGEST_MOMENT) or 0
            self._note(params.get("threadId"), params.get("status"), at_ms)

    def _note(self, thread_id: Json, told: Json, at_ms: int) -> None:
        """at_ms: since when it has this status; 0 if unknown, which is before everything."""
        id, status = word(thread_id), thread_status(as_object(told))
        if id is None:
            return
        known = self._threads.pop(id, None)
        if status is None:
            return
        since = known.changed_at if known is not None and known.status == status else at_ms
        self._threads[id] = Registered(id, None, status, since)
        if len(self._threads) > MOST_THREADS:
            del self._threads[next(iter(self._threads))]


def thread_status(told: Object) -> str | None:
    """The status in the terms of Claude Code's registry; None for a thread that isn't loaded."""
    match told.get("type"):
        case "active":
            waits = any(flag in _WAITS for flag in as_list(told.get("activeFlags")))
            return "waiting" if waits else "busy"
        case "idle" | "systemError":
            return "idle"
        case _:
            return None
