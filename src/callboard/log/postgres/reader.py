"""Reads streams and views. What outputs events refer to is fetched with one query for all."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from psycopg.abc import Params
from psycopg.rows import TupleRow

from callboard.events import codec, names
from callboard.events.envelope import Event
from callboard.events.rows import Query, Row, sized
from callboard.log.admission import StreamState
from callboard.log.appending import KnownStream
from callboard.log.postgres.connections import Link, ReadPool
from callboard.log.postgres.views import select
from callboard.log.protocol import Limit
from callboard.log.quota import Quota
from callboard.log.records import StoredEvent, id_from_bytes, id_text, restore
from callboard.log.view_queries import LAST

STREAM = "id, key, base, base_position, updated_at, head, owner, epoch, settled, hidden"
"""The columns of a stream for `known_stream`."""

_COLUMNS = "position, id, name, version, at, caused_by, payload"
_EVENT = ", ".join(f"events.{column}" for column in _COLUMNS.split(", "))
_SLICE = 256
"""The number of events to read at once; restoring them takes a few milliseconds."""
_WINDOW = 8192
"""The number of positions to look at, if some names are left out."""
_END = 2**62
"""A position that no stream reaches."""

# Up from the stream, as far as its prefix is needed.
_READ = f"""
WITH RECURSIVE part (key, base, start, head) AS (
    SELECT key, base, base_position, head FROM streams WHERE id = %(stream)s AND hidden = 0
    UNION ALL
    SELECT streams.key, streams.base, streams.base_position, part.start
    FROM part JOIN streams ON streams.key = part.base WHERE part.start > %(after)s
)
SELECT {_EVENT}
FROM part JOIN events ON events.stream = part.key
    AND events.position > greatest(part.start, %(after)s)
    AND events.position <= least(part.head, %(until)s)
WHERE events.name <> ALL (%(skip)s::text[])
ORDER BY events.position LIMIT %(limit)s
"""
_READ_ALL = f"""
SELECT events.seq, streams.id, {_EVENT}
FROM events JOIN streams ON streams.key = events.stream
WHERE events.seq > %s AND events.seq <= %s AND streams.hidden = 0
ORDER BY events.seq LIMIT %s
"""
_KEPT = f"SELECT {_EVENT} FROM events WHERE stream = %s AND position <= %s ORDER BY position"
_REFERRED = """
WITH RECURSIVE part (id, position, key, base, start) AS (
    SELECT wanted.id, wanted.position, streams.key, streams.base, streams.base_position
    FROM unnest(%s::text[], %s::bigint[]) AS wanted (id, position)
    JOIN streams ON streams.id = wanted.id
    UNION ALL
    SELECT part.id, part.position, streams.key, streams.base, streams.base_position
    FROM part JOIN streams ON streams.key = part.base WHERE part.position <= part.start
)
SELECT part.id, part.position, events.payload
FROM part JOIN events ON events.stream = part.key AND events.position = part.position
WHERE part.base IS NULL OR part.position > part.start
"""
_CHECKPOINT = """
WITH RECURSIVE part (id, base, start, upto, depth) AS (
    SELECT id, base, base_position, %s::bigint, 0 FROM streams WHERE id = %s AND hidden = 0
    UNION ALL
    SELECT streams.id, streams.base, streams.base_position,
        least(part.upto, part.start), part.depth + 1
    FROM part JOIN streams ON streams.key = part.base
)
SELECT found FROM (
    SELECT depth, (
        SELECT max(position) FROM checkpoints
        WHERE session = part.id AND position <= part.upto
    ) AS found
    FROM part
) AS places WHERE found IS NOT NULL ORDER BY depth LIMIT 1
"""
_CHANGED = f"""
SELECT grown.last, {STREAM} FROM streams
JOIN (SELECT stream, max(seq) AS last FROM events WHERE seq > %s GROUP BY stream) AS grown
    ON grown.stream = streams.key
"""


class _Found(NamedTuple):
    """A stored event, with its place in the order that is read and the stream it is read as."""

    place: int
    stream: str
    stored: StoredEvent


Outputs = dict[tuple[str, int], bytes]
"""Stored payloads by stream and position."""


class PostgresReader:
    """Reads through a pool of connections. Each call sees everything committed before it."""

    def __init__(self, pool: ReadPool) -> None:
        self._pool = pool

    async def read(
        self, stream: str, after: int, upto: int | None, limit: Limit, skip: Collection[str]
    ) -> list[Event]:
        """Events of a stream, including those of the streams it forked."""
        quota, found = Quota(limit), list[tuple[int, Event]]()
        after, last = max(after, 0), _END if upto is None else upto
        if skip:
            # A slice without these names may be empty, and there may still be more.
            last = min(last, await self.head(stream))
        while after < last and not quota.is_spent:
            count = min(quota.events, _SLICE)
            # Positions have no gaps, so this bounds what the server has to sort.
            until = min(last, after + (_WINDOW if skip else count))
            place = {"stream": stream, "after": after, "until": until}
            rows = await self._all(_READ, {**place, "skip": list(skip), "limit": count})
            some = [_Found(row[0], stream, _stored(row)) for row in rows]
            found += await self._restored(some, quota)
            if not skip and len(rows) < until - after:
                break
            after = rows[-1][0] if skip and len(rows) == count else until
        return [event for _, event in found]

    async def read_all(self, after: int, upto: int | None, limit: Limit) -> list[tuple[int, Event]]:
        """Events of all streams within a range of the global sequence."""
        last = await self.last_sequence() if upto is None else upto
        quota, found = Quota(limit), list[tuple[int, Event]]()
        while not quota.is_spent and after < last:
            count = min(quota.events, _SLICE)
            rows = await self._all(_READ_ALL, (after, last, count))
            some = [_Found(place, stream, _stored(row)) for place, stream, *row in rows]
            found += await self._restored(some, quota)
            if len(rows) < count:
                break
            after = rows[-1][0]
        return found

    async def _restored(self, found: Sequence[_Found], quota: Quota) -> list[tuple[int, Event]]:
        outputs = await self._pool.run(lambda link: referred(link, found))
        restored: list[tuple[int, Event]] = []
        for place, stream, stored in found:
            if quota.is_spent:
                break
            restored.append((place, await _restore(stream, stored, outputs, quota)))
            quota.events -= 1
        # Others get a turn between two slices.
        await asyncio.sleep(0)
        return restored

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        rows = await self._all("SELECT head FROM streams WHERE id = %s AND hidden = 0", (stream,))
        return rows[0][0] if rows else 0

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, in this stream or its prefix."""
        rows = await self._all(_CHECKPOINT, (upto, stream))
        return rows[0][0] if rows else 0

    async def last_sequence(self) -> int:
        """The sequence of the newest event."""
        return (await self._all("SELECT seq FROM log"))[0][0]

    async def changed_after(self, sequence: int) -> tuple[list[KnownStream], int]:
        """The streams that have grown after this sequence, and the last sequence."""
        rows = await self._all(_CHANGED, (sequence,))
        last = max((row[0] for row in rows), default=sequence)
        return [known_stream(row[1:]) for row in rows], last

    async def lease(self, stream: str) -> tuple[str | None, int, int] | None:
        """Owner, epoch and settled position of a stream."""
        sql = "SELECT owner, epoch, settled FROM streams WHERE id = %s AND hidden = 0"
        for owner, epoch, settled in await self._all(sql, (stream,)):
            return owner, epoch, settled
        return None

    async def unsettled(self, limit: int) -> list[str]:
        """Streams that have grown since they were settled, oldest change first."""
        sql = "SELECT id FROM streams WHERE unsettled ORDER BY updated_at, key LIMIT %s"
        return [stream for (stream,) in await self._all(sql, (limit,))]

    async def session_counts(self) -> dict[str, int]:
        """How many sessions there are of each status."""
        rows = await self._all("SELECT status, count(*) FROM sessions GROUP BY status")
        return dict(rows)

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view, all as of one moment."""
        sql, values = select(query)

        async def fetch(link: Link) -> list[Row]:
            cursor = await link.execute(sql, values)
            named = [column.name for column in cursor.description or ()]
            return [dict(zip(named, row, strict=True)) for row in await cursor.fetchall()]

        rows = await self._pool.run(fetch)
        if query.with_stream:
            for row in rows:
                row[LAST] = row[LAST] and id_text(id_from_bytes(row[LAST]))
        return rows if query.size is None else sized(rows, query.size)

    async def _all(self, sql: str, values: Params | None = None) -> list[TupleRow]:
        async def fetch(link: Link) -> list[TupleRow]:
            return await (await link.execute(sql.encode(), values)).fetchall()

        return await self._pool.run(fetch)


def known_stream(row: Sequence[Any]) -> KnownStream:
    """A stream, from its row."""
    id, key, base, base_position, updated_at, *now, hidden = row
    return KnownStream(id, key, base, base_position, updated_at, StreamState(*now), bool(hidden))


def _stored(row: Sequence[Any]) -> StoredEvent:
    position, id, name, version, at, caused_by, payload = row
    cause = None if caused_by is None else id_from_bytes(caused_by)
    return StoredEvent(position, id_from_bytes(id), name, version, at, cause, payload)


async def referred(link: Link, found: Sequence[_Found]) -> Outputs:
    """The payloads that events refer to."""
    known = {(stream, stored.position): stored.payload for _, stream, stored in found}
    wanted = {
        (stream, position)
        for _, stream, stored in found
        if stored.name == names.INTENT
        for position in codec.references(codec.parse(stored.payload))
    }
    missing = [place for place in wanted if place not in known]
    if missing:
        ids, positions = zip(*missing, strict=True)
        rows = await link.execute(_REFERRED, (list(ids), list(positions)))
        async for stream, position, payload in rows:
            known[stream, position] = payload
    return known


async def _restore(stream: str, stored: StoredEvent, outputs: Outputs, quota: Quota) -> Event:
    def payload_at(position: int) -> bytes:
        return outputs[stream, position]

    size = quota.size
    try:
        return restore(stored, stream, payload_at, quota, codec.LARGE)
    except codec.Oversized:
        quota.size = size
        return await asyncio.to_thread(restore, stored, stream, payload_at, quota)


async def all_after(link: Link, sequence: int) -> list[tuple[int, Event]]:
    """The next events of all streams, in a transaction of the caller's."""
    rows = await (await link.execute(_READ_ALL.encode(), (sequence, 2**62, _SLICE))).fetchall()
    found = [_Found(place, stream, _stored(row)) for place, stream, *row in rows]
    outputs, quota = await referred(link, found), Quota(None)
    return [(at, await _restore(stream, one, outputs, quota)) for at, stream, one in found]


async def kept_for_forks(link: Link, stream: str, key: int, upto: int) -> list[Event]:
    """What a deleted stream still holds because forks read it."""
    rows = await (await link.execute(_KEPT.encode(), (key, upto))).fetchall()
    found = [_Found(row[0], stream, _stored(row)) for row in rows]
    outputs, quota = await referred(link, found), Quota(None)
    return [await _restore(stream, stored, outputs, quota) for _, _, stored in found]
