"""A response without an end: server-sent events, written as they happen."""

import asyncio
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from callboard.errors import Overloaded
from callboard.server.pacing import ABORT, BUFFERED
from callboard.server.request_metrics import OUTERMOST
from callboard.server.streams import StreamReader

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
_RETRY = b"retry: 1000\n\n"


class EventStream(Response):
    """Writes a reader's frames until the stream ends, or the client disconnects or stops reading.

    Writing waits while the client's buffers are full. Such a client holds only one chunk here, and
    is cut off if it lasts too long. It can return with the id of its last event.
    """

    def __init__(self, reader: StreamReader) -> None:
        super().__init__(headers=HEADERS)
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
            await self._write(send, scope.get(OUTERMOST, send))
        except asyncio.CancelledError:
            if not left:
                raise
            writing.uncancel()
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _write(self, send: Send, past_all: Send) -> None:
        """Write the start and end like any response; the rest bypasses the middleware."""
        reader = self._reader
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        greeting = reader.greeting + _RETRY
        await send({"type": "http.response.body", "body": greeting, "more_body": True})
        try:
            async with aclosing(reader.chunks()) as chunks:
                async for data in chunks:
                    await past_all({"type": "http.response.body", "body": data, "more_body": True})
        except Overloaded:
            # The client can return with the id of its last event.
            reader.cut_off()
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
