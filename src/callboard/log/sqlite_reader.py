"""Reading: in the event loop, in slices short enough that nobody notices."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection
from contextlib import closing
from typing import NamedTuple

from callboard.events.envelope import Event
from callboard.events.rows import Query, Row
from callboard.log.protocol import Limit
from callboard.log.quota import Quota
from callboard.log.records import Record, restore
from callboard.log.sqlite_views import as_rows, select, some_rows

_COLUMNS = "position, id, name, version, at, caused_by, payload"
_LONGEST = 0.004
_ROWS = 1000
_SLICE = 512
_REMEMBERED = 10_000
_FAR = 2**62
_WINDOW = 8192


class Segment(NamedTuple):
    """Positions first..last of a stream, as they were appended to one stream's own events."""

    key: int
    stream: str
    first: int
    last: int | None


class Reader:
    """Answers questions about streams and views through one connection."""

    def __init__(
        self, database: sqlite3.Connection, another: Callable[[], sqlite3.Connection]
    ) -> None:
        self._database = database
        self._another = another
        self._lineages: dict[str, tuple[Segment, ...]] = {}

    async def read(
        self, stream: str, after: int, upto: int | None, limit: Limit, skip: Collection[str]
    ) -> list[Event]:
        """Events of a stream, those of the streams that it forked included."""
        last = self.head(stream) if upto is None else min(upto, self.head(stream))
        events: list[Event] = []
        quota = Quota(limit)
        after = max(after, 0)
        while after < last and not quota.is_spent:
            after = self._slice(stream, (after, last), quota, skip, events)
            if after < last and not quota.is_spent:
                await asyncio.sleep(0)
        return events

    def _slice(
        self,
        stream: str,
        bounds: tuple[int, int],
        quota: Quota,
        skip: Collection[str],
        events: list[Event],
    ) -> int:
        """Add events to those found, and tell up to which position that was done."""
        after, last = bounds
        # Names that are left out cost time too, and SQLite cannot be interrupted by a turn.
        last = min(last, after + _WINDOW) if skip else last
        lineage = self.lineage(stream)
        until = time.perf_counter() + _LONGEST
        for segment in lineage:
            # A cursor left open would hold this connection at one moment in the past.
            with closing(self._records(segment, after, last, skip)) as cursor:
                for row in cursor:
                    stored = Record(*row)
                    events.append(self._restored(stored, stream, lineage, quota))
                    quota.events -= 1
                    if quota.is_spent or time.perf_counter() > until:
                        return stored.position
        return last

    def _records(
        self, segment: Segment, after: int, last: int, skip: Collection[str]
    ) -> sqlite3.Cursor:
        first = max(after + 1, segment.first)
        last = last if segment.last is None else min(last, segment.last)
        names = f" AND name NOT IN ({', '.join('?' * len(skip))})" if skip else ""
        return self._database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE stream = ? AND position BETWEEN ? AND ?{names} "
            "ORDER BY position",
            (segment.key, first, last, *skip),
        )

    def _restored(
        self,
        stored: Record,
        stream: str,
        lineage: tuple[Segment, ...],
        quota: Quota | None = None,
    ) -> Event:
        def payload_at(position: int) -> bytes:
            return self._payload(lineage, position)

        return restore(stored, stream, payload_at, quota)

    def _payload(self, lineage: tuple[Segment, ...], position: int) -> bytes:
        # The last segment that begins at or before a position is the one that owns it.
        key = next(s.key for s in reversed(lineage) if s.first <= position)
        sql = "SELECT payload FROM events WHERE stream = ? AND position = ?"
        return self._database.execute(sql, (key, position)).fetchone()[0]

    def lineage(self, stream: str) -> tuple[Segment, ...]:
        """Where a stream's events lie, oldest first; nothing for an unknown stream.

        It never changes while the stream can be read, so it is remembered.
        """
        if known := self._lineages.get(stream):
            return known
        sql = "SELECT key, id, base, base_position FROM streams WHERE id = ?"
        row = self._database.execute(sql, (stream,)).fetchone()
        segments: list[Segment] = []
        last: int | None = None
        while row is not None:
            key, id, base, start = row
            segments.append(Segment(key, id, start + 1, last))
            last = start
            sql = "SELECT key, id, base, base_position FROM streams WHERE key = ?"
            row = self._database.execute(sql, (base,)).fetchone() if base is not None else None
        lineage = tuple(reversed(segments))
        if lineage:
            if len(self._lineages) >= _REMEMBERED:
                self._lineages.clear()
            self._lineages[stream] = lineage
        return lineage

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
        """What a deleted stream itself still holds because forks read it."""
        lineage = self.lineage(stream)
        with closing(self._records(Segment(key, stream, 1, upto), 0, upto, ())) as cursor:
            return [self._restored(Record(*row), stream, lineage) for row in cursor]

    def all_after(
        self, sequence: int, last: int = _FAR, quota: Quota | None = None
    ) -> list[tuple[int, Event]]:
        """The next events of all streams, each with its place in the global sequence."""
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
                event = self._restored(Record(*columns), stream, self.lineage(stream), quota)
                found.append((place, event))
                quota.events -= 1
                if quota.is_spent or time.perf_counter() > until:
                    break
        return found

    def last_sequence(self) -> int:
        """The place of the newest event in the global sequence."""
        row = self._database.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        return row[0]

    def changed_after(self, sequence: int) -> tuple[list[str], int]:
        """The streams that have grown after this place in the global sequence, and its end."""
        rows = self._database.execute(
            "SELECT streams.id, max(seq) FROM events JOIN streams ON streams.key = events.stream "
            "WHERE seq > ? GROUP BY stream",
            (sequence,),
        ).fetchall()
        return [stream for stream, _ in rows], max((last for _, last in rows), default=sequence)

    def data_version(self) -> int:
        """A number that changes with every commit of another connection."""
        return self._database.execute("PRAGMA data_version").fetchone()[0]

    def head(self, stream: str) -> int:
        """The position of the last event; 0 for a stream that does not exist."""
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
        if query.text is not None:
            # No index helps: whoever searches must not hold the others up.
            return await asyncio.to_thread(self._searched, query)
        sql, values = select(query)
        with closing(self._database.execute(sql, values)) as cursor:
            if query.size is not None:
                return some_rows(cursor, query.size)
            rows = as_rows(cursor, _ROWS)
        return rows if len(rows) < _ROWS else await self._many_rows(query)

    def _searched(self, query: Query) -> list[Row]:
        database = self._another()
        try:
            cursor = database.execute(*select(query))
            return [row for page in iter(lambda: as_rows(cursor, _ROWS), []) for row in page]
        finally:
            database.close()

    async def _many_rows(self, query: Query) -> list[Row]:
        """A long answer, from a connection of its own.

        An open answer holds its connection at one moment in the past; the others who read
        meanwhile must see the present.
        """
        database = self._another()
        try:
            cursor = database.execute(*select(query))
            rows: list[Row] = []
            while more := as_rows(cursor, _ROWS):
                rows += more
                await asyncio.sleep(0)
            return rows
        finally:
            database.close()
