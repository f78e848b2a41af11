"""One client's connection: it must say what it wants in time, and can be dropped at once."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_WITHIN = 10.0
"""Seconds that a client has to send the head of a request."""
_BODY_WITHIN = 60.0
"""Seconds that it then has for the rest."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with two things that it leaves out.

    A client that connects and says nothing, or half of it, is dropped. And whoever answers can
    drop a client that does not read: to close would wait until it does.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait(_HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait(None)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin a request, with the way to drop its sender."""
        super().on_message_begin()
        self.scope["callboard.abort"] = self.transport.abort  # pyright: ignore[reportGeneralTypeIssues]
        self._wait(_HEAD_WITHIN)

    def on_headers_complete(self) -> None:
        """The head has come in time."""
        self._wait(_BODY_WITHIN)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of the request has come."""
        self._wait(None)
        super().on_message_complete()

    def _wait(self, seconds: float | None) -> None:
        """Drop the client after so many seconds, unless something comes before."""
        if self._waiting is not None:
            self._waiting.cancel()
        abort = self.transport.abort
        self._waiting = None if seconds is None else self.loop.call_later(seconds, abort)
