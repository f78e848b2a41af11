"""A log in memory: for tests, and for `run` without a database."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path

from callboard.clock import Clock, SystemClock
from callboard.errors import StoreError
from callboard.events import codec
from callboard.events.envelope import Event, NewEvent, place
from callboard.events.rows import SESSION_COLUMN, SHARED, Drop, Projection, Query, Row
from callboard.ids import short_id
from callboard.log.admission import (
    Claimant,
    StreamState,
    admit,
    admit_deletion,
    admit_fork,
    admit_gone,
)
from callboard.log.listeners import Listeners, Tailed
from callboard.log.memory_slots import MemorySlots, SharedSlots
from callboard.log.memory_tables import (
    MemoryOwners,
    MemoryServerState,
    MemoryTokens,
    StoredState,
)
from callboard.log.memory_views import MemoryViews, StreamFacts
from callboard.log.protocol import (
    ANYHOW,
    Appended,
    Base,
    Lease,
    Limit,
    Notify,
    NotifyAppend,
    Writing,
    no_views,
)
from callboard.log.quota import Quota
from callboard.log.records import StoredEvent, id_text, record, restore
from callboard.log.registry import Description
from callboard.log.slots import SlotQueue


@dataclass(slots=True, eq=False)
class _Stream:
    id: str
    standing: StreamState
    updated_at: int
    base: "_Stream | None" = None
    base_position: int = 0
    own: list[StoredEvent] = field(default_factory=list[StoredEvent])
    forks: "list[_Stream]" = field(default_factory=list["_Stream"])
    hidden: bool = False

    def at(self, position: int) -> StoredEvent:
        """The record at a position, from this stream or the one it forked."""
        stream = self.owning(position)
        return stream.own[position - stream.base_position - 1]

    def owning(self, position: int) -> "_Stream":
        """The stream that this position was appended to: this one or an ancestor."""
        stream = self
        while stream.base is not None and position <= stream.base_position:
            stream = stream.base
        return stream

    def between(self, after: int, last: int) -> Iterator[StoredEvent]:
        """The records with after < position <= last, wherever they were appended."""
        parts: list[tuple[_Stream, int]] = []
        stream: _Stream | None = self
        while stream is not None and last > after:
            if last > stream.base_position:
                parts.append((stream, last))
                last = stream.base_position
            stream = stream.base
        for part, upto in reversed(parts):
            start = part.base_position
            yield from islice(part.own, max(after - start, 0), upto - start)

    @property
    def needed(self) -> int:
        """The position up to which forks read this stream's own events."""
        return max((fork.base_position for fork in self.forks), default=0)

    def holds(self, position: int) -> bool:
        """Whether an own event can be read, through this stream or a fork."""
        return not self.hidden or position <= self.needed


@dataclass(slots=True)
class SharedMemory:
    """What several handles on one memory share, as several processes share a file."""

    streams: dict[str, _Stream] = field(default_factory=dict[str, _Stream])
    sequence: list[tuple[_Stream, int]] = field(default_factory=list[tuple[_Stream, int]])
    views: MemoryViews = field(default_factory=MemoryViews)
    living: dict[str, Listeners] = field(default_factory=dict[str, Listeners])
    described: dict[str, Description] = field(default_factory=dict[str, Description])
    tokens: MemoryTokens = field(default_factory=MemoryTokens)
    state: StoredState = field(default_factory=StoredState)
    slots: SharedSlots = field(default_factory=SharedSlots)


class MemoryLog(Tailed):
    """Streams in dictionaries, with every guarantee of `EventLog` except durability.

    `memory` lets several handles share one memory, each as its own owner.
    """

    is_cut_off: bool = False
    incarnation: int = 1

    def __init__(
        self,
        project: Projection = no_views,
        clock: Clock | None = None,
        memory: SharedMemory | None = None,
    ) -> None:
        self.owner = short_id()
        self.path: Path | None = None
        self.closed = False
        self.listeners = Listeners()
        self.memory = memory or SharedMemory()
        self.tokens = self.memory.tokens
        self.owners = MemoryOwners(self.owner, self.memory.living, self.memory.described)
        self._project = project
        self._clock = clock or SystemClock()
        self.server_state = MemoryServerState(
            self.memory.state, self.owner, self.memory.living, self._clock.now_ms
        )
        self._claimant = Claimant(self.owner, self.owners.alive)
        self.memory.living[self.owner] = self.listeners
        slots = MemorySlots(self.owner, self.memory.slots, self.memory.living, self._wake)
        self.slots = SlotQueue(slots, self._clock, self.on_change)

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none."""
        self._check_open()
        appended = self._append(stream, events, writing)
        # Every log yields to the loop here, so that no writer can block it.
        await asyncio.sleep(0)
        return appended

    def _append(self, stream: str, events: Sequence[NewEvent], writing: Writing) -> Appended:
        payloads = [codec.encode(event) for event in events]
        known = self.memory.streams.get(stream)
        if known is not None and known.hidden:
            admit_gone(stream, writing, len(events), self._claimant)
            return Appended(0, 0, 0)
        found = self._fork(stream, known, writing.base) if writing.base else known
        exists = found is not None
        after = admit(stream, found and found.standing, writing, len(events), self._claimant)
        found = found or _Stream(stream, StreamState(0), self._clock.now_ms())
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
            if known is None and found.base is not None:
                found.base.forks.append(found)
            self.memory.streams[stream] = found
            self._wake(stream, after)
        return Appended(after.head, after.epoch, sum(map(len, payloads)))

    def _fork(self, stream: str, known: _Stream | None, base: Base) -> _Stream:
        parent = self._visible(base.stream)
        start = admit_fork(stream, known and known.standing, base, parent and parent.standing)
        assert parent is not None
        owner = parent.owning(base.position)
        return _Stream(stream, start, self._clock.now_ms(), owner, base.position)

    def _visible(self, stream: str) -> _Stream | None:
        found = self.memory.streams.get(stream)
        return None if found is None or found.hidden else found

    def _wake(self, stream: str = "", after: StreamState | None = None) -> None:
        work = [stream] if after is not None and after.is_up_for_driving else []
        for listeners in tuple(self.memory.living.values()):
            if listeners is self.listeners:
                listeners.wake({stream: after and after.head})
            else:
                listeners.wake({stream: None}, work)

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: Limit = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Events with after < position <= upto, without the names in `skip`."""
        self._check_open()
        found = self._visible(stream)
        if found is None:
            return []
        after, head = max(after, 0), found.standing.head
        last = head if upto is None else min(upto, head)
        events: list[Event] = []
        quota = Quota(limit)
        for stored in found.between(after, last):
            if quota.is_spent:
                break
            if stored.name not in skip:
                events.append(self._restore(found, stored, quota))
        return events

    def _restore(self, stream: _Stream, stored: StoredEvent, quota: Quota | None = None) -> Event:
        if quota is not None:
            quota.events -= 1
        return restore(stored, stream.id, lambda position: stream.at(position).payload, quota)

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        self._check_open()
        found = self._visible(stream)
        return found.standing.head if found else 0

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, in the stream or its prefix."""
        self._check_open()
        part = self._visible(stream)
        while part is not None:
            places = [row["position"] for row in self._shared_rows(part)]
            if found := max((place for place in places if place <= upto), default=0):
                return found
            upto, part = min(upto, part.base_position), part.base
        return 0

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        self._check_open()
        first = max(after, 0)
        places = enumerate(self.memory.sequence[first : None if upto is None else max(upto, 0)], 1)
        visible = ((number, *place) for number, place in places if not place[0].hidden)
        quota = Quota(limit)
        unspent = takewhile(lambda place: not quota.is_spent, visible)
        return [
            (first + number, self._restore(stream, stream.at(position), quota))
            for number, stream, position in unspent
        ]

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 if the log is empty."""
        self._check_open()
        return len(self.memory.sequence)

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        self._check_open()

        def of_stream(session: str) -> StreamFacts:
            found = self._visible(session)
            if found is None:
                return StreamFacts()
            now = found.standing
            last = id_text(found.at(now.head).id)
            return StreamFacts(now.head, found.updated_at, now.owner, now.settled, last)

        return self.memory.views.rows(query, of_stream)

    async def session_counts(self) -> Mapping[str, int]:
        """How many sessions there are of each status."""
        counted = await self.rows(Query("sessions", columns=("status",), count=True))
        return {row["status"]: row["count"] for row in counted}

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None if it doesn't exist."""
        self._check_open()
        found = self._visible(stream)
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

    def outage(self) -> StoreError | None:
        """None: memory is always there."""
        return None

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit to the stream."""
        self._check_open()
        return self.listeners.add(stream, notify)

    def on_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with streams that others wrote to and that someone has to drive."""
        self._check_open()
        return self.listeners.add_of_work(notify)

    async def rebuild(self) -> int:
        """Rebuild the views from the events; returns the number of events."""
        self._check_open()
        views = MemoryViews()
        kept = [(stream, at) for stream, at in self.memory.sequence if stream.holds(at)]
        # Hidden events come last, and fill only the view that forks read.
        for stream, position in sorted(kept, key=lambda place: place[0].hidden):
            changes = self._project(self._restore(stream, stream.at(position)))
            views.apply([c for c in changes if not stream.hidden or c.table == SHARED])
        self.memory.views = views
        return len(kept)

    async def delete(self, stream: str) -> None:
        """Hide a stream and drop its rows; its forks stay complete."""
        self._check_open()
        found = self._visible(stream)
        owner = found.standing.owner if found else None
        living = owner if owner in self.memory.living else None
        admit_deletion(stream, living, exists=found is not None)
        assert found is not None
        head, _, epoch, _ = found.standing
        found.standing, found.hidden = StreamState(head, None, epoch, head), True
        others = [view for view in SESSION_COLUMN if view != SHARED]
        drops = [Drop(view, {SESSION_COLUMN[view]: stream}) for view in others]
        self.memory.views.apply([*drops, *self._unneeded(found)])
        self._wake(stream)
        await asyncio.sleep(0)

    def _unneeded(self, stream: _Stream) -> list[Drop]:
        """Drops the rows of positions that no fork reads."""
        needed = stream.needed
        places = [row["position"] for row in self._shared_rows(stream)]
        where = {SESSION_COLUMN[SHARED]: stream.id}
        return [Drop(SHARED, {**where, "position": at}) for at in places if at > needed]

    def _shared_rows(self, stream: _Stream) -> list[Row]:
        query = Query(SHARED, {SESSION_COLUMN[SHARED]: stream.id})
        return self.memory.views.rows(query, lambda _: StreamFacts())

    async def trim(self, limit: int = 1000) -> int:
        """Remove at most this many events of deleted streams that no fork needs."""
        self._check_open()
        removed = 0
        for stream in reversed(self.memory.streams.values()):
            if stream.hidden and removed < limit:
                removed += self._trim_stream(stream, limit - removed)
        await asyncio.sleep(0)
        return removed

    def _trim_stream(self, stream: _Stream, limit: int) -> int:
        base = stream.base
        if base is not None and not stream.forks:
            # The numbering of its own events starts here, so the number stays.
            base.forks.remove(stream)
            stream.base = None
            if base.hidden:
                self.memory.views.apply(self._unneeded(base))
        own, newest = stream.own, self.memory.sequence[-1]
        kept = max(stream.needed - stream.base_position, 0)
        # The newest event is kept, as in logs whose sequence continues from it.
        last = len(own) - (newest[0] is stream)
        removed = max(min(last - kept, limit), 0)
        del own[last - removed : last]
        return removed

    async def close(self) -> None:
        """Release every lease and end every tail."""
        if self.closed:
            return
        await self.slots.close()
        for stream in self.memory.streams.values():
            now = stream.standing
            if now.owner == self.owner:
                stream.standing = StreamState(now.head, None, now.epoch, now.settled)
        self.crash()

    def crash(self) -> None:
        """Stop as `kill -9` would: leases aren't released, and their owner is dead."""
        self.closed = True
        self.slots.crash()
        self.memory.living.pop(self.owner, None)
        self.listeners.wake_all()

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError("This log is closed; open it again.")
