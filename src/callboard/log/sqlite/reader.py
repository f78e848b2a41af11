"""Reading in the event loop, in slices short enough to go unnoticed."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from types import MappingProxyType

from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.rows import Query, Row
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
            after = self._slice(reading, segment.key, after, segment.last)

    def _slice(self, reading: _Reading, key: int, after: int, last: int) -> int:
        """Add events to those found; returns the position up to which that was done."""
        # Skipped names cost time too, and the loop can't interrupt SQLite.
        last = min(last, after + _WINDOW) if reading.skip else last
        # An open cursor would hold this connection at a moment in the past.
        known: dict[int, bytes] = {}
        with closing(self._records(Segment(key, after + 1, last), reading.skip)) as cursor:
            for row in cursor:
                stored = StoredEvent(*row)
                event = self._restored(stored, reading.stream, reading.quota, known)
                reading.events.append(event)
                if stored.name == names.AGENT_COMPLETED:
                    known[stored.position] = stored.payload
                reading.quota.events -= 1
                if reading.quota.is_spent or time.perf_counter() > reading.until:
                    return stored.position
        return last

    def _records(self, segment: Segment, skip: Collection[str]) -> sqlite3.Cursor:
        without = f" AND name NOT IN ({', '.join('?' * len(skip))})" if skip else ""
        return self._database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE stream = ? AND position BETWEEN ? AND ?{without} "
            "ORDER BY position",
            (*segment, *skip),
        )

    def _restored(
        self,
        stored: StoredEvent,
        stream: str,
        quota: Quota | None = None,
        known: Mapping[int, bytes] = MappingProxyType({}),
    ) -> Event:
        """`known`: payloads by their positions, which need not be read again."""

        def payload_at(position: int) -> bytes:
            if position in known:
                return known[position]
            key = self.ancestry.owner(stream, position)
            sql = "SELECT payload FROM events WHERE stream = ? AND position = ?"
            return self._database.execute(sql, (key, position)).fetchone()[0]

        return restore(stored, stream, payload_at, quota)

    async def read_all(self, after: int, upto: int | None, limit: Limit) -> list[tuple[int, Event]]:
        """Events of all streams within a range of the global sequence."""
        last = self.last_sequence() if upto is None else upto
        quota = Quota(limit)
        found: list[tuple[int, Event]] = []
        while not quota.is_spent:
            more = self.all_after(after, last, quota)
            if not more:
                break
            found += more
            after = more[-1][0]
            await asyncio.sleep(0)
        return found

    def kept_for_forks(self, stream: str, key: int, upto: int) -> list[Event]:
        """What a deleted stream still holds because forks read it."""
        with closing(self._records(Segment(key, 1, upto), ())) as cursor:
            return [self._restored(StoredEvent(*row), stream) for row in cursor]

    def all_after(
        self, sequence: int, last: int = _FAR, quota: Quota | None = None
    ) -> list[tuple[int, Event]]:
        """The next events of all streams, each with its sequence."""
        quota = quota or Quota(None)
        cursor = self._database.execute(
            f"SELECT seq, streams.id, {', '.join(f'events.{c}' for c in _COLUMNS.split(', '))} "
            "FROM events JOIN streams ON streams.key = events.stream "
            "WHERE seq > ? AND seq <= ? AND NOT hidden ORDER BY seq LIMIT ?",
            (sequence, last, min(quota.events, _SLICE)),
        )
        found: list[tuple[int, Event]] = []
        until = time.perf_counter() + _LONGEST
        with closing(cursor):
            for place, stream, *columns in cursor:
                event = self._restored(StoredEvent(*columns), stream, quota)
                found.append((place, event))
                quota.events -= 1
                if quota.is_spent or time.perf_counter() > until:
                    break
        return found

    def last_sequence(self) -> int:
        """The sequence of the newest event."""
        row = self._database.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        return row[0]

    def changed_after(self, sequence: int) -> tuple[list[str], int]:
        """The streams that have grown after this sequence, and the last sequence."""
        # Without an index: SQLite would choose that of the streams, and read all of it.
        rows = self._database.execute(
            "SELECT streams.id, max(seq) FROM events NOT INDEXED "
            "JOIN streams ON streams.key = events.stream WHERE seq > ? GROUP BY stream",
            (sequence,),
        ).fetchall()
        return [stream for stream, _ in rows], max((last for _, last in rows), default=sequence)

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
