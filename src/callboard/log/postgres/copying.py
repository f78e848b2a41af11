"""Copies a SQLite database into an empty PostgreSQL database.

Events come first, in batches that are committed; a copy that was stopped continues after the last
of them. Then one transaction writes everything else, compares the two databases, and commits only
if they are the same. Until then, the target has no streams and its sequence is 0.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from callboard.clock import SystemClock
from callboard.errors import StoreBusy, StoreError, ValidationError
from callboard.log.postgres.comparison import Compared, compare
from callboard.log.postgres.connections import LOSES_HOSTS, PostgresAddress
from callboard.log.postgres.copied_tables import (
    EVENTS,
    LIMITS,
    STREAMS,
    TOKENS,
    CopiedRow,
    CopiedTable,
    views,
)
from callboard.log.postgres.errors import is_lost, translate
from callboard.log.postgres.liveness import HELD
from callboard.log.postgres.setup import COPYING, LOCKS, set_up
from callboard.log.records import id_bytes
from callboard.log.sqlite.log import SqliteLog

CopyProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and the total."""

BATCH_BYTES = 8 * 1_048_576
BATCH_EVENTS = 5000

_PATIENCE = 30.0
_SETTINGS = (
    f"{LOSES_HOSTS} SET lock_timeout = '5s'; SET statement_timeout = 0; "
    "SET idle_in_transaction_session_timeout = 0"
)
_USERS = f"SELECT host, pid FROM owners WHERE no IN ({HELD}) ORDER BY no"
_STATE = """
SELECT seq, (SELECT coalesce(max(seq), 0) FROM events),
    EXISTS (SELECT FROM streams) OR EXISTS (SELECT FROM tokens)
FROM log
"""
_AGAIN = "Run the same command again: it continues where it stopped."


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What both databases have, now that they were compared.

    written: the events that were copied this time; others were there already.
    """

    target: str
    written: int
    compared: Compared


async def copy_log(source: SqliteLog, url: str, progress: CopyProgress | None = None) -> CopyResult:
    """Copy a database while no process writes to it; it isn't changed.

    If this is cancelled, or its process dies, the next call continues.
    """
    address = PostgresAddress.parse(url, _PATIENCE)
    loop, stopping = asyncio.get_running_loop(), threading.Event()

    def told(what: str, done: int, total: int) -> None:
        if stopping.is_set():
            raise StoreError(f"The copy was stopped. {_AGAIN}")
        if progress is not None:
            loop.call_soon_threadsafe(progress, what, done, total)

    def work(database: sqlite3.Connection) -> CopyResult:
        set_up(address, SystemClock())
        return copy_database(database, address, told, source.check_alone)

    try:
        return await source.exclusively(work)
    except asyncio.CancelledError:
        stopping.set()
        raise


def copy_database(
    source: sqlite3.Connection,
    address: PostgresAddress,
    progress: CopyProgress,
    confirm: Callable[[], None],
) -> CopyResult:
    """Copy what a transaction sees. `confirm` may refuse it before it takes effect."""
    try:
        target = psycopg.connect(
            address.conninfo, autocommit=True, application_name="callboard copy"
        )
    except psycopg.Error as error:
        raise translate(error, address.name) from error
    try:
        with target:
            return _Copy(source, target, address.name, progress).run(confirm)
    except psycopg.Error as error:
        if is_lost(error):
            lost = f"The connection to {address.name} was lost. {_AGAIN}"
            raise StoreError(lost, path=address.name) from error
        raise translate(error, address.name) from error


class _Copy:
    """One attempt to copy, or to continue."""

    def __init__(
        self,
        source: sqlite3.Connection,
        target: Connection[TupleRow],
        name: str,
        progress: CopyProgress,
    ) -> None:
        self._source = source
        self._target = target
        self._name = name
        self._progress = progress
        (last,) = source.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        self._last: int = last

    def run(self, confirm: Callable[[], None]) -> CopyResult:
        self._reserve()
        after, is_complete = self._found()
        written = 0 if is_complete else self._copy_events(after)
        with self._target.transaction():
            if not is_complete:
                self._copy_rest()
            compared = compare(self._source, self._target, self._name, self._progress)
            confirm()
        if not is_complete:
            names = ", ".join(table.name for table in (EVENTS, *_others()))
            self._target.execute(f"ANALYZE {names}".encode())
        return CopyResult(self._name, written, compared)

    def _reserve(self) -> None:
        """Refuse to share the target with another process."""
        self._target.execute(_SETTINGS.encode())
        try:
            # Released when the connection closes.
            self._target.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, COPYING))
        except psycopg.errors.LockNotAvailable as error:
            raise StoreBusy(
                f"Another process is copying into {self._name}. Wait until it has finished.",
                path=self._name,
            ) from error
        users = self._target.execute(_USERS.encode()).fetchall()
        if users:
            host, pid = users[0]
            raise StoreBusy(
                f"Process {pid} on {host} has {self._name} open. Stop it, and copy again.",
                path=self._name,
            )

    def _found(self) -> tuple[int, bool]:
        """The last event that the target has, and whether an earlier copy was completed."""
        row = self._target.execute(_STATE).fetchone()
        assert row is not None
        sequence, last, has_rows = row
        is_complete = sequence > 0 or has_rows
        is_ours = sequence == self._last if is_complete else last <= self._last
        if not is_ours or (last and not self._is_same_event(last)):
            raise ValidationError(
                f"{self._name} already holds other data, which was not changed. Copy into an "
                "empty database: createdb NAME",
                field="to",
            )
        return last, is_complete

    def _is_same_event(self, sequence: int) -> bool:
        ours = self._source.execute("SELECT id FROM events WHERE seq = ?", (sequence,)).fetchone()
        sql = "SELECT id FROM events WHERE seq = %s"
        theirs = self._target.execute(sql, (sequence,)).fetchone()
        return ours is not None and theirs is not None and id_bytes(ours[0]) == theirs[0]

    def _copy_events(self, after: int) -> int:
        written, done = 0, EVENTS.count(self._source, after)
        total = EVENTS.count(self._source)
        self._progress("Copying events", done, total)
        for batch in _batches(EVENTS.rows(self._source, after)):
            with self._target.transaction():
                self._write(EVENTS, batch)
            written += len(batch)
            self._progress("Copying events", done + written, total)
        return written

    def _copy_rest(self) -> None:
        """Everything that makes the copied events readable."""
        sql = "SELECT seq FROM log FOR UPDATE"
        if self._target.execute(sql).fetchone() != (0,):
            raise StoreBusy(
                f"Another process wrote to {self._name} during the copy. Stop it, and copy into "
                "an empty database: createdb NAME",
                path=self._name,
            )
        tables = _others()
        for number, table in enumerate(tables):
            self._progress("Copying tables", number, len(tables))
            self._write(table, table.rows(self._source))
        self._target.execute("UPDATE log SET seq = %s", (self._last,))
        self._target.execute("SELECT setval('stream_keys', max(key)) FROM streams")

    def _write(self, table: CopiedTable, rows: Iterable[CopiedRow]) -> None:
        sql = f"COPY {table.name} ({table.listed}) FROM STDIN (FORMAT BINARY)"
        with self._target.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            copy.set_types(table.types)
            for row in rows:
                copy.write_row(row)


def _others() -> list[CopiedTable]:
    """The tables that are written after the events."""
    return [STREAMS, *views(), TOKENS, LIMITS]


def _batches(rows: Iterator[CopiedRow]) -> Iterator[list[CopiedRow]]:
    """Events in lists of bounded size, however large the database is."""
    for first in rows:
        batch, size = list[CopiedRow](), 0
        for row in chain([first], rows):
            batch.append(row)
            payload = row[-1]
            size += len(payload) if isinstance(payload, bytes) else 0
            if size >= BATCH_BYTES or len(batch) >= BATCH_EVENTS:
                break
        yield batch
