"""A log that lives as long as its process: for tests, for `run` without a database."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field

from callboard.clock import Clock, SystemClock
from callboard.errors import StoreError
from callboard.events import codec
from callboard.events.envelope import Event, NewEvent, place
from callboard.events.rows import Projection, Query, Row
from callboard.ids import short_id
from callboard.log.admission import Claimant, Standing, admit, admit_fork
from callboard.log.listeners import ALL, Listeners, follow
from callboard.log.memory_views import MemoryViews
from callboard.log.protocol import ANYHOW, Appended, Base, Lease, Notify, Writing, no_views
from callboard.log.records import Record, record, restore


@dataclass(slots=True, eq=False)
class _Stream:
    id: str
    standing: Standing
    updated_at: int
    base: "_Stream | None" = None
    base_position: int = 0
    own: list[Record] = field(default_factory=list[Record])

    def at(self, position: int) -> Record:
        """The record at a position, from here or from the stream that this one forked."""
        stream = self.owning(position)
        return stream.own[position - stream.base_position - 1]

    def owning(self, position: int) -> "_Stream":
        """The stream that this position was appended to: this one, or an ancestor."""
        stream = self
        while stream.base is not None and position <= stream.base_position:
            stream = stream.base
        return stream


@dataclass(slots=True)
class Memory:
    """What several handles on one memory share, as several processes share a file."""

    streams: dict[str, _Stream] = field(default_factory=dict[str, _Stream])
    sequence: list[tuple[_Stream, int]] = field(default_factory=list[tuple[_Stream, int]])
    views: MemoryViews = field(default_factory=MemoryViews)
    living: dict[str, Listeners] = field(default_factory=dict[str, Listeners])


class MemoryLog:
    """Streams in dictionaries, with every promise of `EventLog` but that of surviving.

    `memory` lets several handles share one memory, each with an owner of its own.
    """

    def __init__(
        self,
        project: Projection = no_views,
        clock: Clock | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.owner = short_id()
        self.closed = False
        self.listeners = Listeners()
        self.memory = memory or Memory()
        self._project = project
        self._clock = clock or SystemClock()
        self._claimant = Claimant(self.owner, self.memory.living.__contains__)
        self.memory.living[self.owner] = self.listeners

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none."""
        self._check_open()
        appended = self._append(stream, events, writing)
        # Every log gives the loop a turn here, so that no writer can hold it for itself.
        await asyncio.sleep(0)
        return appended

    def _append(self, stream: str, events: Sequence[NewEvent], writing: Writing) -> Appended:
        payloads = [codec.encode(event) for event in events]
        known = self.memory.streams.get(stream)
        found = known or self._new_stream(stream, writing.base)
        if writing.base is not None:
            self._check_fork(stream, known, writing.base)
        exists = known is not None or writing.base is not None
        before = found.standing if exists else None
        after = admit(stream, before, writing, len(events), self._claimant)
        first = found.standing.head + 1
        placed = [place(event, stream, first + i) for i, event in enumerate(events)]
        self.memory.views.apply([change for event in placed for change in self._project(event)])
        for position, (event, payload) in enumerate(zip(events, payloads, strict=True), first):
            found.own.append(record(event, position, payload))
            self.memory.sequence.append((found, position))
        found.standing = after
        if events:
            found.updated_at = events[-1].at_ms
        if exists or events:
            self.memory.streams[stream] = found
            self._wake(stream, after.head)
        return Appended(after.head, after.epoch, sum(map(len, payloads)))

    def _new_stream(self, stream: str, base: Base | None) -> _Stream:
        new = _Stream(stream, Standing(0), self._clock.now_ms())
        parent = self.memory.streams.get(base.stream) if base else None
        if base and parent:
            new.standing = Standing(base.position)
            new.base = parent.owning(base.position)
            new.base_position = base.position
        return new

    def _check_fork(self, stream: str, known: _Stream | None, base: Base) -> None:
        parent = self.memory.streams.get(base.stream)
        admit_fork(stream, known and known.standing, base, parent and parent.standing)

    def _wake(self, stream: str, head: int) -> None:
        for listeners in tuple(self.memory.living.values()):
            listeners.wake({stream: head if listeners is self.listeners else None})

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: int | None = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Events with after < position <= upto, the names in `skip` left out."""
        self._check_open()
        found = self.memory.streams.get(stream)
        if found is None:
            return []
        last = found.standing.head if upto is None else min(upto, found.standing.head)
        records: list[Record] = []
        for position in range(max(after, 0) + 1, last + 1):
            if limit is not None and len(records) >= limit:
                break
            stored = found.at(position)
            if stored.name not in skip:
                records.append(stored)
        return [self._restore(found, stored) for stored in records]

    def _restore(self, stream: _Stream, stored: Record) -> Event:
        return restore(stored, stream.id, lambda position: stream.at(position).payload)

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 for a stream that does not exist."""
        self._check_open()
        found = self.memory.streams.get(stream)
        return found.standing.head if found else 0

    async def tail(self, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """History, then whatever comes: no gap, no repeat."""

        async def more(last: int) -> list[tuple[int, Event]]:
            events = await self.read(stream, last, limit=256)
            return [(event.position, event) for event in events]

        async for _, event in follow(self, stream, after, more):
            yield event

    async def tail_all(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """All streams by one global sequence, which comes first in each pair."""

        async def more(last: int) -> list[tuple[int, Event]]:
            return await self.read_all(last, limit=256)

        async for item in follow(self, ALL, after, more):
            yield item

    async def read_all(
        self, after: int, upto: int | None = None, limit: int | None = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        self._check_open()
        first = max(after, 0)
        places = self.memory.sequence[first : None if upto is None else max(upto, 0)]
        places = places if limit is None else places[: max(limit, 0)]
        return [
            (sequence, self._restore(stream, stream.at(position)))
            for sequence, (stream, position) in enumerate(places, first + 1)
        ]

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 for a log that is empty."""
        self._check_open()
        return len(self.memory.sequence)

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        self._check_open()

        def of_stream(session: str) -> tuple[int, int, str | None] | None:
            found = self.memory.streams.get(session)
            return (found.standing.head, found.updated_at, found.standing.owner) if found else None

        return self.memory.views.rows(query, of_stream)

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None for a stream that does not exist."""
        self._check_open()
        found = self.memory.streams.get(stream)
        if found is None:
            return None
        now = found.standing
        alive = now.owner is not None and now.owner in self.memory.living
        return Lease(now.owner, now.epoch, now.settled, alive)

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        self._check_open()
        behind = [s for s in self.memory.streams.values() if s.standing.head > s.standing.settled]
        return [s.id for s in sorted(behind, key=lambda s: s.updated_at)[:limit]]

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit to the stream."""
        self._check_open()
        return self.listeners.add(stream, notify)

    async def rebuild(self) -> int:
        """Empty the views and make them again from the events; returns how many events."""
        self._check_open()
        views = MemoryViews()
        for stream, position in self.memory.sequence:
            views.apply(list(self._project(self._restore(stream, stream.at(position)))))
        self.memory.views = views
        return len(self.memory.sequence)

    async def close(self) -> None:
        """Give back every lease and end every tail."""
        if self.closed:
            return
        for stream in self.memory.streams.values():
            now = stream.standing
            if now.owner == self.owner:
                stream.standing = Standing(now.head, None, now.epoch, now.settled)
        self.crash()

    def crash(self) -> None:
        """Stop as `kill -9` would: leases are not given back, and their owner is dead."""
        self.closed = True
        self.memory.living.pop(self.owner, None)
        self.listeners.wake_all()

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError("This log is closed; open it again.")
