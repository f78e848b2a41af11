"""Write responses no faster than they are read, and count unread bytes."""

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.errors import Overloaded
from callboard.server.memory import HOLDING, ConnectionMemory
from callboard.server.problems import of_error
from callboard.server.request_metrics import OUTERMOST

ABORT: Final = "callboard.abort"
"""The scope key of the function that drops the sender."""
BUFFERED: Final = "callboard.buffered"
"""The scope key of the function that returns the sender's unread bytes."""

_SAFE: Final = frozenset({"GET", "HEAD"})
_SLICE: Final = 65_536
"""Bytes to write before checking whether they are read."""


class Paced:
    """ASGI middleware for connections that can report what they hold."""

    def __init__(self, app: ASGIApp, patience: float) -> None:
        self._app = app
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        holding: ConnectionMemory | None = scope.get(HOLDING)
        if scope["type"] != "http" or holding is None:
            await self._app(scope, receive, send)
            return
        slices = _Slices(send, scope, self._patience)
        # Streams do their own counting and cutting off, because their readers share memory.
        scope[OUTERMOST] = _Slices(scope.get(OUTERMOST, send), scope, None).send
        answer = _Answer(scope, receive, slices.send, holding)
        try:
            await self._app(scope, receive, answer.send)
        finally:
            answer.done()


class _Slices:
    """Writes large parts in slices, and cuts off a client that stops reading."""

    def __init__(self, send: Send, scope: Scope, patience: float | None) -> None:
        self._send = send
        self._patience = patience
        self._abort: Callable[[], None] = scope[ABORT]
        self._buffered: Callable[[], int] = scope[BUFFERED]

    async def send(self, message: Message) -> None:
        body: bytes = message.get("body", b"")
        if len(body) <= _SLICE:
            await self._send(message)
            return
        last = (len(body) - 1) // _SLICE * _SLICE
        for start in range(0, len(body), _SLICE):
            more = start < last or message.get("more_body", False)
            part = body[start : start + _SLICE]
            if not await self._taken({**message, "body": part, "more_body": more}):
                return

    async def _taken(self, part: Message) -> bool:
        """Write a slice; returns False if the client read nothing for too long."""
        while True:
            before = self._buffered()
            try:
                async with asyncio.timeout(self._patience):
                    await self._send(part)
            except TimeoutError:
                if self._buffered() >= before:
                    self._abort()
                    return False
            else:
                return True


class _Answer:
    """One response: counted from its head to its last byte, or replaced by a refusal."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, holding: ConnectionMemory
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._holding = holding
        self._held = 0
        self._refused = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            try:
                self._hold(_length(message))
            except Overloaded as error:
                self._refused = True
                await of_error(error)(self._scope, self._receive, self._send)
        if not self._refused:
            await self._send(message)

    def _hold(self, size: int) -> None:
        if size <= _SLICE:
            return
        if self._scope["method"] in _SAFE:
            self._holding.take(size)
        else:
            self._holding.take_anyway(size)
        self._held = size

    def done(self) -> None:
        """Free what was held for it."""
        self._holding.give(self._held)
        self._held = 0


def _length(message: Message) -> int:
    lengths = (value for name, value in message.get("headers", ()) if name == b"content-length")
    return int(next(lengths, b"0"))
