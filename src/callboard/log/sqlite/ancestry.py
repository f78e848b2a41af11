"""Where a stream's events are: a fork reads its prefix from its ancestors.

A lookup goes up from the fork and stops at the stream that owns the first position asked for, so
its cost depends on what is read, not on how deep the forks are.
"""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

_REMEMBERED = 10_000
"""The number of streams to cache."""

_LOADED = 512
"""The maximum number of ancestors that one statement finds."""

_ANCESTORS = """
WITH RECURSIVE part (key, base, start) AS (
    SELECT key, base, base_position FROM streams WHERE key = ?
    UNION ALL
    SELECT streams.key, streams.base, streams.base_position
    FROM part JOIN streams ON streams.key = part.base WHERE part.start > ?
    LIMIT ?
)
SELECT key, base, start FROM part
"""

# A recursive query returns rows in the order it finds them: the youngest stream first.
_CHECKPOINT = """
WITH RECURSIVE part (id, base, start, upto) AS (
    SELECT id, base, base_position, ? FROM streams WHERE id = ? AND NOT hidden
    UNION ALL
    SELECT streams.id, streams.base, streams.base_position, min(part.upto, part.start)
    FROM part JOIN streams ON streams.key = part.base
)
SELECT (SELECT max(position) FROM checkpoints
        WHERE session = part.id AND position <= part.upto) AS found
FROM part WHERE found IS NOT NULL LIMIT 1
"""


class StreamPart(NamedTuple):
    """A stream: its own events come after `start`, earlier ones are in `base`."""

    key: int
    base: int | None
    start: int


class Segment(NamedTuple):
    """Positions first..last, which were appended to one stream."""

    key: int
    first: int
    last: int


class Ancestry:
    """Finds the streams with a stream's events.

    These never change while the stream can be read, so some are cached.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._keys: dict[str, int] = {}
        self._parts: dict[int, StreamPart] = {}

    def segments(self, stream: str, after: int, upto: int) -> list[Segment]:
        """Where the events with after < position <= upto are, oldest first."""
        found: list[Segment] = []
        for part in self._line(stream, after):
            if upto > part.start:
                found.append(Segment(part.key, max(part.start, after) + 1, upto))
                upto = part.start
        return found[::-1]

    def owner(self, stream: str, position: int) -> int:
        """The key of the stream that a position was appended to."""
        return self.segments(stream, position - 1, position)[0].key

    def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, in this stream or its prefix."""
        row = self._database.execute(_CHECKPOINT, (upto, stream)).fetchone()
        return row[0] if row else 0

    def _line(self, stream: str, after: int) -> Iterator[StreamPart]:
        """The stream and its ancestors, up to the one that owns what comes after a position."""
        key = self._key(stream)
        part = None if key is None else self._part(key, after)
        while part is not None:
            yield part
            above = part.base is not None and part.start > after
            part = self._part(part.base, after) if above and part.base is not None else None

    def _key(self, stream: str) -> int | None:
        known = self._keys.get(stream)
        if known is None:
            sql = "SELECT key FROM streams WHERE id = ?"
            row = self._database.execute(sql, (stream,)).fetchone()
            if row is None:
                return None
            if len(self._keys) >= _REMEMBERED:
                self._keys.clear()
            known = self._keys[stream] = row[0]
        return known

    def _part(self, key: int, after: int) -> StreamPart:
        known = self._parts.get(key)
        if known is not None:
            return known
        rows = self._database.execute(_ANCESTORS, (key, after, min(_LOADED, _REMEMBERED)))
        parts = [StreamPart(*row) for row in rows]
        if len(self._parts) + len(parts) > _REMEMBERED:
            self._parts.clear()
        self._parts.update((part.key, part) for part in parts)
        return parts[0]
