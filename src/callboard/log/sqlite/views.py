"""Changes and queries of views as SQL. Names are checked against the schema, values are bound."""

import functools
import sqlite3
from collections.abc import Callable, Sequence

from callboard.events.rows import KEYS, Cell, Drop, Put, Query, Row, RowChange, sized
from callboard.log.coalescing import coalesce
from callboard.log.records import id_text
from callboard.log.tables import table_of
from callboard.log.view_queries import LAST, Dialect, Statement, select_in

_SQLITE = Dialect(
    contains="instr({}, ?) > 0",
    contains_small="instr(lower({}), ?) > 0",
    visible="NOT streams.hidden",
    total="coalesce(sum({}), 0)",
    no_limit=-1,
    nulls_are_first=True,
)


def statements(changes: Sequence[RowChange]) -> list[Statement]:
    """The statements for the changes."""
    joined = coalesce(changes) if len(changes) > 1 else changes
    return [_statement(change) for change in joined]


def _statement(change: RowChange) -> Statement:
    if isinstance(change, Put):
        return _put(change.table, tuple(change.row)), list(change.row.values())
    if isinstance(change, Drop):
        return _drop(change.table, tuple(change.where)), list(change.where.values())
    sql = _change(change.table, tuple(change.set), tuple(change.add), tuple(change.where))
    return sql, [*change.set.values(), *change.add.values(), *change.where.values()]


# There are few shapes of changes, repeated with every event, so each text is built once.


@functools.cache
def _put(table: str, columns: tuple[str, ...]) -> str:
    table_of(Put(table, {})).check(columns)
    marks = ", ".join("?" * len(columns))
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})"


@functools.cache
def _drop(table: str, where: tuple[str, ...]) -> str:
    table_of(Put(table, {})).check(where)
    return f"DELETE FROM {table}{_where(where)}"


@functools.cache
def _change(table: str, new: tuple[str, ...], add: tuple[str, ...], where: tuple[str, ...]) -> str:
    table_of(Put(table, {})).check((*new, *add, *where))
    sets = [f"{column} = ?" for column in new] + [f"{column} = {column} + ?" for column in add]
    # A change that changes nothing is still valid, but SQL needs at least one assignment.
    sets = sets or [f"{KEYS[table][0]} = {KEYS[table][0]}"]
    return f"UPDATE {table} SET {', '.join(sets)}{_where(where)}"


def _where(columns: tuple[str, ...]) -> str:
    return " WHERE " + " AND ".join(f"{column} IS ?" for column in columns) if columns else ""


def select(query: Query) -> Statement:
    """The statement for a query."""
    return select_in(_SQLITE, query)


def as_rows(cursor: sqlite3.Cursor, count: int) -> list[Row]:
    """Up to `count` more rows of a result, by column name."""
    make = _row_maker(cursor)
    return [make(values) for values in cursor.fetchmany(count)]


def some_rows(cursor: sqlite3.Cursor, size: int) -> list[Row]:
    """The first rows of a result, up to this many characters; the rest is never read."""
    return sized(map(_row_maker(cursor), cursor), size)


def _row_maker(cursor: sqlite3.Cursor) -> Callable[[Sequence[Cell]], Row]:
    names = [column[0] for column in cursor.description]
    if names[-1] != LAST:
        return lambda values: dict(zip(names, values, strict=True))

    def with_id(values: Sequence[Cell]) -> Row:
        row: Row = dict(zip(names, values, strict=True))
        if row[LAST] is not None:
            row[LAST] = id_text(row[LAST])
        return row

    return with_id
