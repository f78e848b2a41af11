"""One client's connection: it must say what it wants in time, and can be dropped at once."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEADERS_WITHIN = 10.0
"""Seconds that a client has to send a request's head."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with two things that it leaves out.

    A client that connects and says nothing, or half of it, is dropped. And whoever answers can
    drop a client that does not read: to close would wait until it does.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._have_head()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin a request, with the way to drop its sender."""
        super().on_message_begin()
        self.scope["callboard.abort"] = self.transport.abort  # pyright: ignore[reportGeneralTypeIssues]
        self._await_head()

    def on_headers_complete(self) -> None:
        """The head has come in time."""
        self._have_head()
        super().on_headers_complete()

    def _await_head(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(_HEADERS_WITHIN, self.transport.abort)

    def _have_head(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
