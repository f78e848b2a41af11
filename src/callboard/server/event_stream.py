"""A response without an end: server-sent events, written as they happen."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Final, Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from callboard.errors import Overloaded, StoreError
from callboard.server.access.identity import ADMITTED
from callboard.server.pacing import ABORT, BUFFERED
from callboard.server.request_metrics import OUTERMOST

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
LAST_EVENT = "Callboard-Last-Event"
"""The event before the stream's first one. A client sends it back when it returns."""
_RETRY = b"retry: 1000\n\n"
CHECK_EVERY: Final = 1.0
"""Seconds for which a token counts as valid after a check: many events come in a second."""


class StreamSource(Protocol):
    """What a stream writes, and to whom."""

    cut_off: Callable[[], None]
    buffered: Callable[[], int]

    @property
    def greeting(self) -> bytes:
        """What to write first."""
        ...

    @property
    def last_event(self) -> str | None:
        """The event before the first one, for a client that returns."""
        ...

    def chunks(self) -> AsyncGenerator[bytes]:
        """What to write then, until the end."""
        ...


class EventStream(Response):
    """Writes a reader's frames until the stream ends, or the client disconnects or stops reading.

    Also ends when the client's token is no longer valid, or the log fails.

    Writing waits while the client's buffers are full. Such a client holds only one chunk here, and
    is cut off if it lasts too long. It can return with the id of its last event.
    """

    def __init__(self, reader: StreamSource) -> None:
        last = reader.last_event
        super().__init__(headers=HEADERS if last is None else {**HEADERS, LAST_EVENT: last})
        # No length and no second content type: the body isn't known in advance.
        self.raw_headers = [(n, v) for n, v in self.raw_headers if n != b"content-length"]
        self._reader = reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond."""
        writing = asyncio.current_task()
        assert writing is not None
        left = False

        async def watch() -> None:
            nonlocal left
            while (await receive())["type"] != "http.disconnect":
                pass
            left = True
            writing.cancel()

        watching = asyncio.create_task(watch())
        self._reader.cut_off = scope.get(ABORT, self._reader.cut_off)
        self._reader.buffered = scope.get(BUFFERED, self._reader.buffered)
        try:
            admission = _Admission(scope.get(ADMITTED))
            await self._write(send, scope.get(OUTERMOST, send), admission)
        except asyncio.CancelledError:
            if not left:
                raise
            writing.uncancel()
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _write(self, send: Send, past_all: Send, admission: "_Admission") -> None:
        """Write the start and end like any response; the rest bypasses the middleware."""
        reader = self._reader
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        greeting = reader.greeting + _RETRY
        await send({"type": "http.response.body", "body": greeting, "more_body": True})
        try:
            async with aclosing(reader.chunks()) as chunks:
                async for data in chunks:
                    if not await admission.lasts():
                        break
                    await past_all({"type": "http.response.body", "body": data, "more_body": True})
        except (Overloaded, StoreError):
            # The client can return with the id of its last event.
            reader.cut_off()
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Admission:
    """Whether a reader may still read."""

    def __init__(self, is_admitted: Callable[[], Awaitable[bool]] | None) -> None:
        self._is_admitted = is_admitted
        self._checked_at = 0.0

    async def lasts(self) -> bool:
        """Whether its token is valid, or was a moment ago."""
        now = asyncio.get_running_loop().time()
        if self._is_admitted is None or now - self._checked_at < CHECK_EVERY:
            return True
        self._checked_at = now
        return await self._is_admitted()
