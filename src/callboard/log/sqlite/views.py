"""Changes and queries of views as SQL. Names are checked against the schema, values are bound."""

import functools
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from callboard.events.rows import (
    KEYS,
    SESSION_COLUMN,
    Cell,
    Drop,
    Put,
    Query,
    Row,
    RowChange,
    sized,
)
from callboard.log.coalescing import coalesce
from callboard.log.records import id_text
from callboard.log.tables import FROM_SESSION, FROM_STREAM, small, table_of

Statement = tuple[str, Sequence[Cell]]
_LAST = "stream_last"


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
    table = table_of(query)
    table.check_query(query)
    where, values = _conditions(query)
    if query.columns is not None:
        return _narrow(query, where, values)
    if query.count:
        # The join, which finds one row for each, would cost more than the counting.
        is_joined = "streams." in where or "asking." in where
        source = _source(query) if is_joined else f"{query.table} AS view"
        return f"SELECT count(*) AS count FROM {source}{where}", values
    values.append(-1 if query.limit is None else query.limit)
    columns = f"SELECT {_columns(query)} FROM {_source(query)}"
    return f"{columns}{where}{_order(query)} LIMIT ?", values


def _narrow(query: Query, where: str, values: list[Cell]) -> Statement:
    """Some columns of the rows, or the number of rows for each combination of their values."""
    columns = list(query.columns or ())
    read = ", ".join(_expression(query, name) for name in dict.fromkeys((*columns, *query.sums)))
    order = _order(query)
    source = _source(query) if "streams." in f"{read}{where}{order}" else f"{query.table} AS view"
    rows = f"SELECT {read} FROM {source}{where}{order} LIMIT ?"
    values.append(-1 if query.limit is None else query.limit)
    if not query.count:
        return rows, values
    names = ", ".join(columns)
    sums = "".join(f", coalesce(sum({name}), 0) AS {name}" for name in query.sums)
    grouped = f" GROUP BY {names} ORDER BY {names}" if columns else ""
    separator = ", " if columns else ""
    return f"SELECT {names}{separator}count(*) AS count{sums} FROM ({rows}){grouped}", values


def _expression(query: Query, column: str) -> str:
    name = _named(query.table, column)
    if query.binned is not None and query.binned[0] == column:
        _, width, offset = query.binned
        return f"({name} + {int(offset)}) / {int(width)} AS {column}"
    return f"{name} AS {column}"


def _conditions(query: Query) -> tuple[str, list[Cell]]:
    parts = [
        *(_equality(query.table, column, value) for column, value in query.where.items()),
        *_bounds(query),
        *_choices(query),
    ]
    where = " AND ".join(condition for condition, _ in parts)
    return f" WHERE {where}" if where else "", [value for _, bound in parts for value in bound]


def _bounds(query: Query) -> Iterator[tuple[str, Sequence[Cell]]]:
    if query.at_most is not None:
        column, most = query.at_most
        yield f"{_named(query.table, column)} <= ?", [most]
    if query.at_least is not None:
        column, least = query.at_least
        yield f"{_named(query.table, column)} >= ?", [least]
    if query.beyond is not None:
        columns = ", ".join(_named(query.table, column) for column in query.ordered_by)
        marks = ", ".join("?" * len(query.beyond))
        yield f"({columns}) {'<' if query.descending else '>'} ({marks})", query.beyond


def _choices(query: Query) -> Iterator[tuple[str, Sequence[Cell]]]:
    if query.one_of is not None:
        column, values = query.one_of
        yield f"{_named(query.table, column)} IN ({', '.join('?' * len(values))})", values
    if query.holds is not None:
        column, values = query.holds
        name, texts = _named(query.table, column), [one for one in values if one is not None]
        held = [f"instr({name}, ?) > 0"] * len(texts)
        empty = [f"{name} IS NULL"] if None in values else []
        yield f"({' OR '.join([*held, *empty]) or '0'})", texts
    if query.text is not None:
        columns, wanted = query.text
        # Not LIKE, which treats some characters as patterns and stops at others.
        found = [f"instr(lower({_named(query.table, column)}), ?) > 0" for column in columns]
        yield f"({' OR '.join(found) or '0'})", [small(wanted)] * len(columns)


def _equality(table: str, column: str, value: Cell) -> tuple[str, list[Cell]]:
    name = _named(table, column)
    if value is None:
        return f"{name} IS NULL", []
    if column == "status" and isinstance(value, str) and value.isalpha():
        # Written out, because a partial index can't be used for a bound value.
        return f"{name} = '{value}'", []
    return f"{name} = ?", [value]


def _order(query: Query) -> str:
    # A column with the same value in every row would only keep an index from being used.
    columns = [column for column in query.ordered_by if column not in query.where]
    direction = " DESC" if query.descending else ""
    order = ", ".join(f"{_named(query.table, column)}{direction}" for column in columns)
    return f" ORDER BY {order}" if order else ""


def _columns(query: Query) -> str:
    columns = ["view.*"]
    if query.table == "sessions":
        columns += [f"{_named(query.table, name)} AS {name}" for name in FROM_STREAM]
    if query.table == "human_interactions":
        columns += [f"{_named(query.table, name)} AS {name}" for name in FROM_SESSION]
    if query.with_stream:
        columns += [f"streams.{name} AS stream_{name}" for name in ("head", "owner", "settled")]
        columns.append(f"last.id AS {_LAST}")
    return ", ".join(columns)


def _source(query: Query) -> str:
    source = f"{query.table} AS view"
    if query.table == "sessions" or query.with_stream:
        column = SESSION_COLUMN[query.table]
        source += f" LEFT JOIN streams ON streams.id = view.{column} AND NOT streams.hidden"
    if query.table == "human_interactions":
        source += " LEFT JOIN sessions AS asking ON asking.id = view.execution_id"
    if query.with_stream:
        source += (
            " LEFT JOIN events AS last"
            " ON last.stream = streams.key AND last.position = streams.head"
        )
    return source


def _named(table: str, column: str) -> str:
    if table == "sessions" and column in FROM_STREAM:
        return f"streams.{'head' if column == 'position' else column}"
    if table == "human_interactions" and column in FROM_SESSION:
        return f"asking.{FROM_SESSION[column]}"
    return f"view.{column}"


def as_rows(cursor: sqlite3.Cursor, count: int) -> list[Row]:
    """Up to `count` more rows of a result, by column name."""
    make = _row_maker(cursor)
    return [make(values) for values in cursor.fetchmany(count)]


def some_rows(cursor: sqlite3.Cursor, size: int) -> list[Row]:
    """The first rows of a result, up to this many characters; the rest is never read."""
    return sized(map(_row_maker(cursor), cursor), size)


def _row_maker(cursor: sqlite3.Cursor) -> Callable[[Sequence[Cell]], Row]:
    names = [column[0] for column in cursor.description]
    if names[-1] != _LAST:
        return lambda values: dict(zip(names, values, strict=True))

    def with_id(values: Sequence[Cell]) -> Row:
        row: Row = dict(zip(names, values, strict=True))
        if row[_LAST] is not None:
            row[_LAST] = id_text(row[_LAST])
        return row

    return with_id
