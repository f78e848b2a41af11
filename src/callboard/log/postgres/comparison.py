"""Compares a SQLite database with its copy in PostgreSQL, row by row."""

import hashlib
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest

from psycopg import Connection
from psycopg.rows import TupleRow

from callboard.errors import StoreError
from callboard.log.postgres.copied_tables import (
    EVENTS,
    LIMITS,
    STREAMS,
    TOKENS,
    CopiedRow,
    CopiedTable,
    views,
)

_FETCHED = 1000
_REPORTED = 1000
"""After how many rows to report progress."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What two equal databases have.

    rows: of all views.
    digest: the SHA-256 of all events.
    """

    streams: int
    events: int
    rows: int
    tokens: int
    digest: str


def compare(
    source: sqlite3.Connection,
    target: Connection[TupleRow],
    name: str,
    progress: Callable[[str, int, int], None],
) -> Compared:
    """Compare everything, in the open transactions; StoreError names the first difference."""
    return _Comparison(source, target, name, progress).run()


class _Comparison:
    def __init__(
        self,
        source: sqlite3.Connection,
        target: Connection[TupleRow],
        name: str,
        progress: Callable[[str, int, int], None],
    ) -> None:
        self._source = source
        self._target = target
        self._name = name
        self._progress = progress
        self._tables = [STREAMS, EVENTS, TOKENS, LIMITS, *views()]
        self._done = 0
        self._total = sum(table.count(source) for table in self._tables)

    def run(self) -> Compared:
        digest = hashlib.sha256()
        counts = {
            table.name: self._compare(table, digest.update if table is EVENTS else None)
            for table in self._tables
        }
        counts.pop(LIMITS.name)
        self._compare_sequences()
        self._progress("Comparing", self._total, self._total)
        return Compared(
            streams=counts.pop(STREAMS.name),
            events=counts.pop(EVENTS.name),
            tokens=counts.pop(TOKENS.name),
            rows=sum(counts.values()),
            digest=digest.hexdigest(),
        )

    def _compare(self, table: CopiedTable, digest: Callable[[bytes], None] | None) -> int:
        count = 0
        ours = map(table.shortened, table.rows(self._source))
        with closing(self._copied(table)) as theirs:
            for one, other in zip_longest(ours, theirs):
                if one is None or one != other:
                    raise self._difference(self._label(table, one or other or ()))
                count += 1
                if digest is not None:
                    digest(repr(one).encode())
                if count % _REPORTED == 1:
                    self._progress("Comparing", self._done + count, self._total)
        self._done += count
        return count

    def _copied(self, table: CopiedTable) -> Generator[CopiedRow]:
        # A cursor of the server's: only some of the rows are in memory at once.
        with self._target.cursor(name="callboard_copy") as cursor:
            cursor.itersize = _FETCHED
            cursor.execute(table.select_shortened.encode())
            yield from cursor

    def _compare_sequences(self) -> None:
        (last,) = self._source.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        if self._target.execute("SELECT seq FROM log").fetchone() != (last,):
            raise self._difference("the last sequence")

    def _label(self, table: CopiedTable, row: CopiedRow) -> str:
        cells = dict(zip(table.columns, row, strict=True))
        if table is not EVENTS:
            named = ("id",) if table is STREAMS else table.key
            return f"{table.name}, {', '.join(str(cells[column]) for column in named)}"
        sql = "SELECT id FROM streams WHERE key = ?"
        (stream,) = self._source.execute(sql, (cells["stream"],)).fetchone() or ("unknown",)
        return f"event {cells['position']} of {stream}"

    def _difference(self, where: str) -> StoreError:
        return StoreError(
            f"{self._name} differs from the source ({where}). Don't use it: create an empty "
            "database, and copy again.",
            path=self._name,
            where=where,
        )
