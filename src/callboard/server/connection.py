"""A client's connection, with timeouts for requests and a way to drop it at once."""

import asyncio
from collections.abc import Callable
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
"""Seconds for the client to send the head of a request."""
_BODY_WITHIN = 60.0
"""Seconds for the rest of the request."""
_LINGER = 5.0
"""Seconds that a client may keep sending after it was cut off."""
_LARGEST_HEAD = 65_536
"""Maximum bytes of request line and headers, because no token is checked before their end."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with some additions.

    A client that connects and sends nothing, or half a request, is dropped. A handler can drop a
    client that doesn't read, where closing would wait until it does. A client on this machine is
    identified before it can disappear. Memory is counted per connection, and the connection that
    holds the most is cut off when memory runs out. Trailers don't count as headers. And a request
    in progress learns that its client disconnected, even if the client sent more after it.

    on_request: called at the start of each request.
    """

    _peer: Peer | None = None

    _waiting: asyncio.TimerHandle | None = None
    _head: int | None = 0
    """Bytes of an incomplete head; None outside of a head."""
    _beside: int = 0
    """Bytes after the head that aren't body: chunk sizes, chunk extensions, trailers."""
    _answering: RequestResponseCycle | None = None
    _left = False
    """Whether the response came before the request's end, and the rest is ignored."""
    _unsent = 0
    """Bytes counted because the client hasn't read them."""

    def __init__(
        self, *given: Any, memory: MemoryBudget, on_request: Callable[[], None], **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self._memory = memory
        self._on_request = on_request

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Identify the client, and start waiting for a request."""
        super().connection_made(transport)
        self._peer = Peer(transport)
        self._address = self.client[0] if self.client else ""
        self._holding = self._memory.holding(self._address, self._cut)
        self._wait(_HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait(None)
        self._holding.release()
        super().connection_lost(exc)
        # uvicorn notifies only the request that was sent last.
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def pause_writing(self) -> None:
        """The client reads more slowly than we write; count the unsent bytes."""
        super().pause_writing()
        try:
            self._holding.take(self.transport.get_write_buffer_size())
        except Overloaded:
            self.transport.abort()
        else:
            self._unsent = self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """The client has read most of it."""
        super().resume_writing()
        self._holding.give(self._unsent)
        self._unsent = 0

    def _cut(self) -> None:
        """Free what this connection holds, because memory is short."""
        if not self.cycle or self.cycle.response_started:
            self.transport.abort()
        elif not self.transport.is_closing():
            message = "The server is out of memory for this request. Try again in a moment."
            self._answer(503, "OVERLOADED", message, "Retry-After: 2\r\n")
            self._leave()

    def _leave(self) -> None:
        """Keep reading for a while so that the client gets to read the response."""
        self._left = True
        self.cycle.disconnected = True
        self.cycle.body = bytearray()
        self.cycle.message_event.set()
        self.flow.resume_reading()
        self.transport.write_eof()
        self._wait(_LINGER)

    def data_received(self, data: bytes) -> None:
        """Receive data, but no endless head, and no trailers."""
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
            self._refuse(431, "TOO_LARGE", "The request's chunk metadata is too large.")

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP in the common error format."""
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
        """Start a request, with a way to drop its sender and to count its memory."""
        self._on_request()
        super().on_message_begin()
        self._head = 0
        scope: dict[str, Any] = self.scope  # pyright: ignore[reportAssignmentType]
        scope[KEY] = self._peer
        scope[ABORT] = self.transport.abort
        scope[BUFFERED] = self.transport.get_write_buffer_size
        scope[HOLDING] = self._holding
        # Until a token is checked, only the caller's address is known.
        self._holding.belongs_to(self._address)
        self._wait(_HEAD_WITHIN)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Receive a header. Trailers come after the body, too late to matter, and are dropped."""
        if self._head is not None:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        self._beside = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """The head has arrived in time."""
        self._head = None
        self._beside = 0
        self._wait(_BODY_WITHIN)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The whole request has arrived."""
        self._beside = 0
        self._wait(None)
        super().on_message_complete()

    def _wait(self, seconds: float | None) -> None:
        """Drop the client after this many seconds without data."""
        if self._waiting is not None:
            self._waiting.cancel()
        abort = self.transport.abort
        self._waiting = None if seconds is None else self.loop.call_later(seconds, abort)
