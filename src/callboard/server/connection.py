"""One client's connection: it must say what it wants in time, and can be dropped at once."""

import asyncio
from http import HTTPStatus
from typing import Any

import orjson
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from callboard.errors import Overloaded
from callboard.server.access.peers import KEY, Peer
from callboard.server.memory import HOLDING, MemoryBudget
from callboard.server.pacing import ABORT, BUFFERED

_HEAD_WITHIN = 10.0
"""Seconds that a client has to send the head of a request."""
_BODY_WITHIN = 60.0
"""Seconds that it then has for the rest."""
_LINGER = 5.0
"""Seconds that a client that was cut off may continue sending."""
_LARGEST_HEAD = 65_536
"""Bytes that a request's line and headers may have: no one has shown a token before their end."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with what it leaves out.

    A client that connects and sends nothing, or half a request, is dropped. A handler can drop a
    client that does not read: closing would wait until it does. A client on this machine is
    identified before it can disappear. What a connection holds is counted, and the one that holds
    most is cut off when memory runs out. Trailers are not headers. And a request that is being
    answered learns that its client left, even if more was sent behind it.
    """

    _peer: Peer | None = None

    _waiting: asyncio.TimerHandle | None = None
    _head: int | None = 0
    """Bytes of a head that has not come to its end; None when none is under way."""
    _beside: int = 0
    """Bytes behind the head that were no body: sizes of chunks, their extensions, trailers."""
    _answering: RequestResponseCycle | None = None
    _left = False
    """Whether it was answered before its end, and the rest is not looked at."""
    _unsent = 0
    """Bytes that were counted because the client does not read them."""

    def __init__(self, *given: Any, memory: MemoryBudget, **more: Any) -> None:
        super().__init__(*given, **more)
        self._memory = memory

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Identify the client, and start to wait for a request."""
        super().connection_made(transport)
        self._peer = Peer(transport)
        self._address = self.client[0] if self.client else ""
        self._holding = self._memory.holding(self._address, self._cut)
        self._wait(_HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait(None)
        self._holding.release()
        super().connection_lost(exc)
        # uvicorn says so only to the request that was sent last.
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        """The client does not read as fast as we write: what waits for it counts."""
        super().pause_writing()
        try:
            self._holding.take(self.transport.get_write_buffer_size())
        except Overloaded:
            self.transport.abort()
        else:
            self._unsent = self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """It has read most of it."""
        super().resume_writing()
        self._holding.give(self._unsent)
        self._unsent = 0

    def _cut(self) -> None:
        """Let go of what this connection holds: others need the memory."""
        if not self.cycle or self.cycle.response_started:
            self.transport.abort()
        elif not self.transport.is_closing():
            message = "The server has no memory left for this. Try again in a moment."
            self._answer(503, "OVERLOADED", message, "Retry-After: 2\r\n")
            self._leave()

    def _leave(self) -> None:
        """Take what else the client sends, so that it gets to read the answer; but not for long."""
        self._left = True
        self.cycle.disconnected = True
        self.cycle.body = bytearray()
        self.cycle.message_event.set()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._wait(_LINGER)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends, but not a head without end, nor trailers."""
        if self._left:
            return
        self._beside += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._head is not None:
            self._head += len(data)
        if (self._head or 0) > _LARGEST_HEAD:
            self._refuse(431, "TOO_LARGE", "The head of the request is too large.")
        elif self._head is None and self._beside > _LARGEST_HEAD:
            self._refuse(431, "TOO_LARGE", "What the request sends beside its body is too large.")

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP in the envelope of all errors."""
        self._refuse(400, "VALIDATION_ERROR", msg)

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._answer(status, code, message)
        self.transport.close()

    def _answer(self, status: int, code: str, message: str, headers: str = "") -> None:
        body = orjson.dumps({"error": {"code": code, "message": message}})
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
        )
        more = f"{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.transport.write((head + more).encode() + body)

    def on_message_begin(self) -> None:
        """Start a request, with the way to drop its sender and to see what it holds."""
        super().on_message_begin()
        self._head = 0
        scope: dict[str, Any] = self.scope  # pyright: ignore[reportAssignmentType]
        scope[KEY] = self._peer
        scope[ABORT] = self.transport.abort
        scope[BUFFERED] = self.transport.get_write_buffer_size
        scope[HOLDING] = self._holding
        # Until a token is seen, all that is known of a caller is the address.
        self._holding.belongs_to(self._address)
        self._wait(_HEAD_WITHIN)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a trailer comes after the body, when all is decided, and is dropped."""
        if self._head is not None:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._beside = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head has come in time."""
        self._head = None
        self._beside = 0
        self._wait(_BODY_WITHIN)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of the request has come."""
        self._beside = 0
        self._wait(None)
        super().on_message_complete()

    def _wait(self, seconds: float | None) -> None:
        """Drop the client after so many seconds, unless something comes before."""
        if self._waiting is not None:
            self._waiting.cancel()
        abort = self.transport.abort
        self._waiting = None if seconds is None else self.loop.call_later(seconds, abort)
