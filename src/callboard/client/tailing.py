"""An event stream that survives reconnects: nothing lost, nothing repeated."""

import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from callboard.board.replies import EventsPage
from callboard.client.frames import Frame, FrameParser
from callboard.client.transport import Transport
from callboard.clock import Clock
from callboard.errors import ServerFailed, ServerUnreachable, StoreError, TooManyFailures
from callboard.events.codec import load_json
from callboard.events.envelope import Event
from callboard.events.json_values import as_object
from callboard.events.names import TERMINAL

_FIRST: Final = 0.1
_LONGEST: Final = 5.0
PAGE: Final = 1000
"""The most events that a server returns at once."""
PASSING: Final = (ServerUnreachable, ServerFailed, StoreError, TooManyFailures)
"""Errors that may be gone in a moment; any other error is final."""


async def history(
    transport: Transport, path: str, after: int, limit: int | None = None
) -> list[Event]:
    """The stored events after a position, all of them or up to `limit`."""
    found: list[Event] = []
    while limit is None or len(found) < limit:
        most = PAGE if limit is None else min(limit - len(found), PAGE)
        page = EventsPage.from_wire(await transport.get(path, after=after, limit=most))
        found += page.events
        if page.next_after is None:
            break
        after = page.next_after
    return found


class Reconnecting:
    """How long to wait before the next attempt, and when to give up.

    on_connect: called whenever a connection is made, before anything arrives on it.
    """

    def __init__(
        self, clock: Clock, seconds: float, on_connect: Callable[[], None] | None = None
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._on_connect = on_connect
        self._pause = _FIRST
        self._since: float | None = None

    def connected(self) -> None:
        """The server is reachable again; whether it also sends events remains to be seen."""
        self._since = None
        if self._on_connect is not None:
            self._on_connect()

    def reset(self) -> None:
        """An event arrived: start over with the shortest wait."""
        self._pause, self._since = _FIRST, None

    async def wait(self, error: Exception | None) -> None:
        """Wait a little longer each time; raise the error once that has taken too long."""
        now = self._clock.monotonic()
        self._since = now if self._since is None else self._since
        if error is not None and now - self._since >= self._seconds:
            raise error
        await self._clock.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(self._pause * 2, _LONGEST)


class Tail:
    """Reads a stream over as many connections as it takes.

    The first connection has to succeed; later ones are retried for as long as `patience` allows.

    ends: whether the stream ends after a terminal event, as a session's does.
    """

    def __init__(
        self,
        transport: Transport,
        path: str,
        after: int | None,
        patience: Reconnecting,
        *,
        ends: bool = False,
    ) -> None:
        self._transport = transport
        self._path = path
        self._ends = ends
        self._place = after
        self._last: str | None = None
        self._patience = patience
        self._connected = False
        self._over = False
        self._at_end = False

    async def events(self) -> AsyncGenerator[tuple[int, Event]]:
        """The events with their positions: history first, then new ones."""
        while not self._over:
            failure: Exception | None = None
            try:
                async with aclosing(self._connection()) as events:
                    async for placed in events:
                        yield placed
            except PASSING as error:
                if not self._connected:
                    raise
                failure = error
            if not self._over:
                await self._patience.wait(failure)

    async def _connection(self) -> AsyncGenerator[tuple[int, Event]]:
        """The events from one connection."""
        parser = FrameParser()
        place = self._place
        query = {"after": place, "lastEvent": self._last}
        # Only a position that was read here is one to return to.
        returns_to = place if self._connected else None
        async with self._transport.stream(self._path, query, returns_to) as (chunks, last):
            self._connected = True
            self._last = self._last or last
            self._patience.connected()
            if chunks is None:
                self._over = True
                return
            async for chunk in chunks:
                for frame in parser.feed(chunk):
                    placed = self._placed(frame)
                    if placed is not None:
                        yield placed
                if self._place is None and parser.last_id:
                    self._place = int(parser.last_id)
            # Only the server knows: in a fork, an ending may be its parent's, with more events
            # after it.
            self._over = self._at_end

    def _placed(self, frame: Frame) -> tuple[int, Event] | None:
        """The event in a frame with its position; None if it was seen before."""
        at = int(frame.id or 0)
        if self._place is not None and at <= self._place:
            return None
        event = Event.from_wire(as_object(load_json(frame.data)))
        self._place, self._last = at, event.id
        self._patience.reset()
        self._at_end = self._ends and event.name in TERMINAL
        return at, event
