"""Reading in the event loop, in slices short enough to go unnoticed."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from callboard.events import codec, names
from callboard.events.envelope import Event
from callboard.events.rows import Query, Row
from callboard.log.admission import StreamState
from callboard.log.protocol import Limit
from callboard.log.quota import Quota
from callboard.log.records import StoredEvent, restore
from callboard.log.sqlite.ancestry import Ancestry, Segment
from callboard.log.sqlite.views import as_rows, select, some_rows

_COLUMNS = "position, id, name, version, at, caused_by, payload"
_LONGEST = 0.004
_ROWS = 1000
_SLICE = 512
_FAR = 2**62
_WINDOW = 8192
_UNINDEXED = frozenset({"type", "workflow"})
"""Columns of questions that have no index."""


@dataclass(slots=True)
class _Reading:
    """What to read: the stream, how much, without which names, and when to yield."""

    stream: str
    quota: Quota
    skip: Collection[str]
    until: float
    events: list[Event] = field(default_factory=list[Event])


class Reader:
    """Reads streams and views through one connection."""

    def __init__(
        self, database: sqlite3.Connection, another: Callable[[], sqlite3.Connection]
    ) -> None:
        self._database = database
        self._another = another
        self.ancestry = Ancestry(database)

    async def read(
        self, stream: str, after: int, upto: int | None, limit: Limit, skip: Collection[str]
    ) -> list[Event]:
        """Events of a stream, including those of the streams it forked."""
        after = max(after, 0)
        last = self.head(stream) if upto is None else min(upto, self.head(stream))
        quota = Quota(limit)
        if not skip:
            last = min(last, after + quota.events)
        reading = _Reading(stream, quota, skip, time.perf_counter() + _LONGEST)
        for segment in self.ancestry.segments(stream, after, last):
            await self._read_segment(reading, segment)
            if quota.is_spent:
                break
        await _give_way(reading.until)
        return reading.events

    async def _read_segment(self, reading: _Reading, segment: Segment) -> None:
        after = segment.first - 1
        while after < segment.last and not reading.quota.is_spent:
            if await _give_way(reading.until):
                reading.until = time.perf_counter() + _LONGEST
            after, oversized = self._slice(reading, segment.key, after, segment.last)
            if oversized is not None:
                event = await self._restored_apart(oversized, reading.stream, reading.quota)
                reading.events.append(event)
                reading.quota.events -= 1
                after = event.position

    def _slice(
        self, reading: _Reading, key: int, after: int, last: int
    ) -> tuple[int, StoredEvent | None]:
        """Add events to those found; returns the position up to which that was done.

        Stops before an event that is too large to be restored here, and returns that, too.
        """
        # Skipped names cost time too, and the loop can't interrupt SQLite.
        last = min(last, after + _WINDOW) if reading.skip else last
        # An open cursor would hold this connection at a moment in the past.
        known: dict[int, bytes] = {}
        with closing(self._records(Segment(key, after + 1, last), reading.skip)) as cursor:
            for row in cursor:
                stored = StoredEvent(*row)
                event = self._restored_here(stored, reading.stream, reading.quota, known)
                if event is None:
                    return stored.position - 1, stored
                reading.events.append(event)
                if stored.name == names.AGENT_COMPLETED:
                    known[stored.position] = stored.payload
                reading.quota.events -= 1
                if reading.quota.is_spent or time.perf_counter() > reading.until:
                    return stored.position, None
        return last, None

    def _records(self, segment: Segment, skip: Collection[str]) -> sqlite3.Cursor:
        without = f" AND name NOT IN ({', '.join('?' * len(skip))})" if skip else ""
        return self._database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE stream = ? AND position BETWEEN ? AND ?{without} "
            "ORDER BY position",
            (*segment, *skip),
        )

    def _restored_here(
        self,
        stored: StoredEvent,
        stream: str,
        quota: Quota,
        known: Mapping[int, bytes] = MappingProxyType({}),
    ) -> Event | None:
        """The event; None if that would take too long in the event loop.

        `known`: payloads by their positions, which need not be read again.
        """

        def payload_at(position: int) -> bytes:
            return known[position] if position in known else self._payload(stream, position)

        size = quota.size
        try:
            return restore(stored, stream, payload_at, quota, codec.LARGE)
        except codec.Oversized:
            quota.size = size
            return None

    async def _restored_apart(self, stored: StoredEvent, stream: str, quota: Quota) -> Event:
        """The event, restored in a thread, except for reading what it refers to."""
        payloads: dict[int, bytes] = {}
        if stored.name == names.INTENT:
            parsed = await asyncio.to_thread(codec.parse, stored.payload)
            payloads = {at: self._payload(stream, at) for at in codec.references(parsed)}
        return await asyncio.to_thread(restore, stored, stream, payloads.__getitem__, quota)

    def _payload(self, stream: str, position: int) -> bytes:
        key = self.ancestry.owner(stream, position)
        sql = "SELECT payload FROM events WHERE stream = ? AND position = ?"
        return self._database.execute(sql, (key, position)).fetchone()[0]

    async def read_all(self, after: int, upto: int | None, limit: Limit) -> list[tuple[int, Event]]:
        """Events of all streams within a range of the global sequence."""
        last = self.last_sequence() if upto is None else upto
        quota = Quota(limit)
        found: list[tuple[int, Event]] = []
        while not quota.is_spent:
            more, oversized = self._some_after(after, last, quota)
            if oversized is not None:
                place, stream, stored = oversized
                more.append((place, await self._restored_apart(stored, stream, quota)))
                quota.events -= 1
            if not more:
                break
            found += more
            after = more[-1][0]
            await asyncio.sleep(0)
        return found

    def kept_for_forks(self, stream: str, key: int, upto: int) -> list[Event]:
        """What a deleted stream still holds because forks read it."""
        payload_at = partial(self._payload, stream)
        with closing(self._records(Segment(key, 1, upto), ())) as cursor:
            return [restore(StoredEvent(*row), stream, payload_at) for row in cursor]

    def all_after(self, sequence: int) -> list[tuple[int, Event]]:
        """The next events of all streams, each with its sequence, however large they are."""
        found: list[tuple[int, Event]] = []
        until = time.perf_counter() + _LONGEST
        with closing(self._placed(sequence, _FAR, _SLICE)) as placed:
            for place, stream, stored in placed:
                found.append((place, restore(stored, stream, partial(self._payload, stream))))
                if time.perf_counter() > until:
                    break
        return found

    def _some_after(
        self, sequence: int, last: int, quota: Quota
    ) -> tuple[list[tuple[int, Event]], tuple[int, str, StoredEvent] | None]:
        """The next events of all streams; and the one after them, if it is too large for here."""
        found: list[tuple[int, Event]] = []
        until = time.perf_counter() + _LONGEST
        with closing(self._placed(sequence, last, min(quota.events, _SLICE))) as placed:
            for place, stream, stored in placed:
                event = self._restored_here(stored, stream, quota)
                if event is None:
                    return found, (place, stream, stored)
                found.append((place, event))
                quota.events -= 1
                if quota.is_spent or time.perf_counter() > until:
                    break
        return found, None

    def _placed(
        self, sequence: int, last: int, limit: int
    ) -> Generator[tuple[int, str, StoredEvent]]:
        cursor = self._database.execute(
            f"SELECT seq, streams.id, {', '.join(f'events.{c}' for c in _COLUMNS.split(', '))} "
            "FROM events JOIN streams ON streams.key = events.stream "
            "WHERE seq > ? AND seq <= ? AND NOT hidden ORDER BY seq LIMIT ?",
            (sequence, last, limit),
        )
        with closing(cursor):
            for place, stream, *columns in cursor:
                yield place, stream, StoredEvent(*columns)

    def last_sequence(self) -> int:
        """The sequence of the newest event."""
        row = self._database.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        return row[0]

    def changed_after(self, sequence: int) -> tuple[dict[str, StreamState], int]:
        """The streams that have grown after this sequence, and the last sequence."""
        # Without an index: SQLite would choose that of the streams, and read all of it.
        rows = self._database.execute(
            "SELECT streams.id, max(seq), head, owner, epoch, settled FROM events NOT INDEXED "
            "JOIN streams ON streams.key = events.stream WHERE seq > ? GROUP BY stream",
            (sequence,),
        ).fetchall()
        last = max((row[1] for row in rows), default=sequence)
        return {id: StreamState(*now) for id, _, *now in rows}, last

    def data_version(self) -> int:
        """A number that changes with every commit of another connection."""
        return self._database.execute("PRAGMA data_version").fetchone()[0]

    def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        sql = "SELECT head FROM streams WHERE id = ? AND NOT hidden"
        row = self._database.execute(sql, (stream,)).fetchone()
        return row[0] if row else 0

    def lease(self, stream: str) -> tuple[str | None, int, int] | None:
        """Owner, epoch and settled position of a stream."""
        sql = "SELECT owner, epoch, settled FROM streams WHERE id = ? AND NOT hidden"
        return self._database.execute(sql, (stream,)).fetchone()

    def unsettled(self, limit: int) -> list[str]:
        """Streams that have grown since they were settled, oldest change first."""
        sql = "SELECT id FROM streams WHERE unsettled ORDER BY updated_at, key LIMIT ?"
        return [stream for (stream,) in self._database.execute(sql, (limit,))]

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view, all as of one moment."""
        if _reads_many(query):
            # There may be many rows to look at: others must not wait for it.
            return await asyncio.to_thread(self._searched, query)
        until = time.perf_counter() + _LONGEST
        sql, values = select(query)
        with closing(self._database.execute(sql, values)) as cursor:
            size = query.size
            rows = as_rows(cursor, _ROWS) if size is None else some_rows(cursor, size)
        if size is None and len(rows) == _ROWS:
            return await self._many_rows(query)
        await _give_way(until)
        return rows

    def _searched(self, query: Query) -> list[Row]:
        with closing(self._another()) as database:
            cursor = database.execute(*select(query))
            if query.size is not None:
                return some_rows(cursor, query.size)
            return [row for page in iter(lambda: as_rows(cursor, _ROWS), []) for row in page]

    async def _many_rows(self, query: Query) -> list[Row]:
        """A long result, from its own connection.

        An open result holds its connection at a moment in the past, and other readers must see the
        present.
        """
        with closing(self._another()) as database:
            cursor = database.execute(*select(query))
            rows: list[Row] = []
            while more := as_rows(cursor, _ROWS):
                rows += more
                await asyncio.sleep(0)
            return rows


def _reads_many(query: Query) -> bool:
    """Whether no index leads to the rows, so that many others have to be looked at."""
    if query.text is not None or query.columns is not None:
        return True
    where = query.where
    if query.table != "human_interactions" or "execution_id" in where:
        return False
    if where.get("status") == "pending":
        return False
    return query.holds is not None or not _UNINDEXED.isdisjoint(where)


async def _give_way(until: float) -> bool:
    """Yield to others if it is time to; returns whether it did."""
    if time.perf_counter() <= until:
        return False
    await asyncio.sleep(0)
    return True
