"""One transaction for the appends of one event loop iteration.

Everything that can refuse an append is decided in Python before the first row is written, so a
refusal costs the others nothing, and no savepoints are needed.
"""

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter

from callboard.clock import Clock
from callboard.events.rows import Projection
from callboard.log.admission import Claimant, StreamState, admit, admit_fork, admit_gone
from callboard.log.appending import (
    AppendRequest,
    EventRow,
    KnownStream,
    Outcome,
    entries,
    moves_lease,
)
from callboard.log.protocol import Appended, Base
from callboard.log.sqlite.errors import is_done
from callboard.log.sqlite.file import PAGE_SIZE
from callboard.log.sqlite.views import Statement, statements

_INSERT_EVENT = (
    "INSERT INTO events (stream, position, id, name, version, at, caused_by, payload) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_STREAM = (
    "INSERT INTO streams (id, base, base_position, "
    "head, updated_at, owner, epoch, settled, unsettled, key) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# Two ways to record growth: the short one doesn't touch the index of unsettled streams.
_MOVE_STREAM = "UPDATE streams SET head = ?, updated_at = ? WHERE key = ?"
_UPDATE_STREAM = (
    "UPDATE streams SET head = ?, updated_at = ?, owner = ?, epoch = ?, settled = ?, "
    "unsettled = ? WHERE key = ?"
)
_SELECT_STREAM = (
    "SELECT id, key, base, base_position, updated_at, head, owner, epoch, settled, "
    "hidden FROM streams "
)
_OWNER = """
WITH RECURSIVE part (key, base, start, position) AS (
    SELECT key, base, base_position, ?2 FROM streams WHERE key = ?1
    UNION ALL
    SELECT streams.key, streams.base, streams.base_position, position
    FROM part JOIN streams ON streams.key = part.base WHERE position <= part.start
)
SELECT key FROM part WHERE base IS NULL OR position > start
"""

_REMEMBERED = 10_000
"""The number of streams to cache; 100,000 waiting sessions must not take up memory."""

# An event without its payload: its other columns, and its index entry.
_ROW_SIZE = 100


@dataclass(slots=True)
class _Batch:
    events: list[EventRow] = field(default_factory=list[EventRow])
    views: list[Statement] = field(default_factory=list[Statement])
    created: dict[int, KnownStream] = field(default_factory=dict[int, KnownStream])
    leased: dict[int, KnownStream] = field(default_factory=dict[int, KnownStream])
    moved: dict[int, KnownStream] = field(default_factory=dict[int, KnownStream])
    size: int = 0


class Committer:
    """Writes groups of appends through one connection. Used by one thread at a time."""

    def __init__(
        self,
        database: sqlite3.Connection,
        claimant: Claimant,
        project: Projection,
        clock: Clock,
        wrote: Callable[[int], None],
        check: Callable[[], None],
    ) -> None:
        self.held: set[str] = set()
        self.commit_seconds = 0.0
        self._database = database
        self._claimant = claimant
        self._project = project
        self._clock = clock
        self._wrote = wrote
        self._check = check
        self._streams: dict[str, KnownStream] = {}
        self._version = -1
        self._next_key = 0

    def begin(self) -> bool:
        """Start a transaction; returns False if another program holds the file."""
        return is_done(lambda: self._database.execute("BEGIN IMMEDIATE"))

    def commit(self, group: Sequence[AppendRequest]) -> tuple[list[Outcome], dict[str, int]]:
        """Do what the group asks in the open transaction.

        Returns the outcome of each request, and the new lengths of the changed streams.
        """
        try:
            self._forget_if_others_wrote()
            batch = _Batch()
            outcomes = [self._outcome(request, batch) for request in group]
            changed = [*batch.created.values(), *batch.leased.values(), *batch.moved.values()]
            if changed:
                self._write(batch)
                self._check()
            started = time.perf_counter()
            self._database.execute("COMMIT" if changed else "ROLLBACK")
            self.commit_seconds = time.perf_counter() - started
        except BaseException:
            self.roll_back()
            raise
        self._remember(changed)
        self._wrote(_pages(batch))
        return outcomes, {known.id: known.standing.head for known in changed}

    def roll_back(self) -> None:
        """Roll back the transaction, and forget the streams' states in it."""
        self._streams.clear()
        self._version = -1
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def forget(self, stream: str) -> None:
        """Forget the cached state of a stream that was changed elsewhere."""
        self._streams.pop(stream, None)
        self.held.discard(stream)

    def release(self) -> None:
        """Release every lease in the open transaction, and commit it."""
        self._database.executemany(
            "UPDATE streams SET owner = NULL WHERE id = ? AND owner = ?",
            [(stream, self._claimant.owner) for stream in self.held],
        )
        self._database.execute("COMMIT")
        self.held.clear()

    def _forget_if_others_wrote(self) -> None:
        (version,) = self._database.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._streams.clear()
            self._version = version
            last = self._database.execute("SELECT coalesce(max(key), 0) FROM streams").fetchone()
            self._next_key = last[0] + 1

    def _outcome(self, request: AppendRequest, batch: _Batch) -> Outcome:
        try:
            return self._append(request, batch)
        except sqlite3.Error:
            raise
        except Exception as error:
            return error

    def _append(self, request: AppendRequest, batch: _Batch) -> Appended:
        stream, events, payloads, writing, *_ = request
        found = self._find(stream)
        if found is not None and found.hidden:
            admit_gone(stream, writing, len(events), self._claimant)
            return Appended(0, 0, 0)
        known = self._fork(stream, found, writing.base, batch) if writing.base else found
        standing = known.standing if known else None
        after = admit(stream, standing, writing, len(events), self._claimant)
        if known is None:
            if not events:
                return Appended(0, 0, 0)
            known = KnownStream(stream, self._next_key, None, 0, 0, StreamState(0))
        rows, changes = entries(request, known, self._project)
        views = statements(changes) if changes else []
        # From here on, nothing can fail: this is what others will see.
        if found is None:
            self._create(known, batch)
        elif moves_lease(known.standing, after):
            batch.leased[known.key] = known
        elif events:
            batch.moved[known.key] = known
        known.standing = after
        if events:
            known.updated_at = events[-1].at_ms
        batch.events += rows
        batch.views += views
        size = sum(map(len, payloads))
        batch.size += size
        return Appended(after.head, after.epoch, size)

    def _create(self, known: KnownStream, batch: _Batch) -> None:
        known.updated_at = self._clock.now_ms()
        self._next_key += 1
        self._streams[known.id] = known
        batch.created[known.key] = known

    def _fork(
        self, stream: str, found: KnownStream | None, base: Base, batch: _Batch
    ) -> KnownStream:
        parent = self._find(base.stream)
        parent = None if parent is None or parent.hidden else parent
        start = admit_fork(stream, found and found.standing, base, parent and parent.standing)
        assert parent is not None
        key = self._owner(parent, base.position, batch)
        return KnownStream(stream, self._next_key, key, base.position, 0, start)

    def _owner(self, stream: KnownStream, position: int, batch: _Batch) -> int:
        """The key of the stream that a position was appended to: this one or an ancestor."""
        while stream.base is not None and position <= stream.base_position:
            unwritten = batch.created.get(stream.base)
            if unwritten is None:
                return self._database.execute(_OWNER, (stream.base, position)).fetchone()[0]
            stream = unwritten
        return stream.key

    def _find(self, stream: str) -> KnownStream | None:
        if known := self._streams.get(stream):
            return known
        row = self._database.execute(_SELECT_STREAM + "WHERE id = ?", (stream,)).fetchone()
        if row is None:
            return None
        id, key, base, base_position, updated_at, *now, hidden = row
        known = KnownStream(
            id, key, base, base_position, updated_at, StreamState(*now), bool(hidden)
        )
        self._streams[stream] = known
        return known

    def _write(self, batch: _Batch) -> None:
        database = self._database
        if batch.created:
            rows = [_stream_row(known) for known in batch.created.values()]
            database.executemany(_INSERT_STREAM, rows)
        leased = [known for key, known in batch.leased.items() if key not in batch.created]
        if leased:
            database.executemany(_UPDATE_STREAM, [_stream_row(known)[3:] for known in leased])
        more = batch.moved.keys() - batch.created.keys() - batch.leased.keys()
        if more:
            rows = [
                (batch.moved[key].standing.head, batch.moved[key].updated_at, key) for key in more
            ]
            database.executemany(_MOVE_STREAM, rows)
        if batch.events:
            database.executemany(_INSERT_EVENT, batch.events)
        # In their order; sessions that do the same in one commit have the same statements.
        for sql, views in groupby(batch.views, key=itemgetter(0)):
            database.executemany(sql, [values for _, values in views])

    def _remember(self, changed: Sequence[KnownStream]) -> None:
        for known in changed:
            if known.standing.owner == self._claimant.owner:
                self.held.add(known.id)
            else:
                self.held.discard(known.id)
        if len(self._streams) > _REMEMBERED:
            for stream in list(islice(self._streams, _REMEMBERED // 2)):
                del self._streams[stream]


def _pages(batch: _Batch) -> int:
    """Roughly how many pages a transaction wrote: a few in any case, plus one per view row."""
    return 4 + len(batch.views) + (batch.size + _ROW_SIZE * len(batch.events)) // PAGE_SIZE


def _stream_row(known: KnownStream) -> tuple[object, ...]:
    head, owner, epoch, settled = known.standing
    forked = (known.id, known.base, known.base_position)
    return (*forked, head, known.updated_at, owner, epoch, settled, head > settled, known.key)
