"""Queries of views as SQL. Names are checked against the schema, values are bound."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from callboard.events.rows import SESSION_COLUMN, Cell, Query
from callboard.log.tables import FROM_SESSION, FROM_STREAM, small, table_of

Statement = tuple[str, Sequence[Cell]]
"""SQL with `?` for each value, and the values."""

LAST = "stream_last"
"""The column with the stored id of a stream's last event."""


class Dialect(NamedTuple):
    """How a database says what databases say differently.

    contains, contains_small: a column contains a text; the second one ignores case.
    visible: a stream was not deleted.
    total: the sum of a column.
    no_limit: the value of LIMIT for all rows.
    nulls_are_first: missing values come first, unless the order is descending.
    """

    contains: str
    contains_small: str
    visible: str
    total: str
    no_limit: Cell
    nulls_are_first: bool


def select_in(dialect: Dialect, query: Query) -> Statement:
    """The statement for a query."""
    table = table_of(query)
    table.check_query(query)
    where, values = _conditions(dialect, query)
    if query.columns is not None:
        return _narrow(dialect, query, where, values)
    if query.count:
        # The join, which finds one row for each, would cost more than the counting.
        is_joined = "streams." in where or "asking." in where
        source = _source(dialect, query) if is_joined else f"{query.table} AS view"
        return f"SELECT count(*) AS count FROM {source}{where}", values
    values.append(dialect.no_limit if query.limit is None else query.limit)
    columns = f"SELECT {_columns(query)} FROM {_source(dialect, query)}"
    return f"{columns}{where}{_order(dialect, query)} LIMIT ?", values


def _narrow(dialect: Dialect, query: Query, where: str, values: list[Cell]) -> Statement:
    """Some columns of the rows, or the number of rows for each combination of their values."""
    columns = list(query.columns or ())
    read = ", ".join(_expression(query, name) for name in dict.fromkeys((*columns, *query.sums)))
    order = _order(dialect, query)
    source = (
        _source(dialect, query)
        if "streams." in f"{read}{where}{order}"
        else f"{query.table} AS view"
    )
    rows = f"SELECT {read} FROM {source}{where}{order} LIMIT ?"
    values.append(dialect.no_limit if query.limit is None else query.limit)
    if not query.count:
        return rows, values
    names = ", ".join(columns)
    sums = "".join(f", {dialect.total.format(name)} AS {name}" for name in query.sums)
    order = ", ".join(f"{name}{_nulls(dialect, query, name)}" for name in columns)
    grouped = f" GROUP BY {names} ORDER BY {order}" if columns else ""
    separator = ", " if columns else ""
    return (
        f"SELECT {names}{separator}count(*) AS count{sums} FROM ({rows}) AS counted{grouped}",
        values,
    )


def _expression(query: Query, column: str) -> str:
    name = _named(query.table, column)
    if query.binned is not None and query.binned[0] == column:
        _, width, offset = query.binned
        return f"({name} + {int(offset)}) / {int(width)} AS {column}"
    return f"{name} AS {column}"


def _conditions(dialect: Dialect, query: Query) -> tuple[str, list[Cell]]:
    parts = [
        *(_equality(query.table, column, value) for column, value in query.where.items()),
        *_bounds(query),
        *_choices(dialect, query),
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


def _choices(dialect: Dialect, query: Query) -> Iterator[tuple[str, Sequence[Cell]]]:
    if query.one_of is not None:
        column, values = query.one_of
        marks = ", ".join("?" * len(values)) or "NULL"
        yield f"{_named(query.table, column)} IN ({marks})", values
    if query.holds is not None:
        column, values = query.holds
        name, texts = _named(query.table, column), [one for one in values if one is not None]
        held = [dialect.contains.format(name)] * len(texts)
        empty = [f"{name} IS NULL"] if None in values else []
        yield f"({' OR '.join([*held, *empty]) or '1 = 0'})", texts
    if query.text is not None:
        columns, wanted = query.text
        # Not LIKE, which treats some characters as patterns and stops at others.
        found = [dialect.contains_small.format(_named(query.table, one)) for one in columns]
        yield f"({' OR '.join(found) or '1 = 0'})", [small(wanted)] * len(columns)


def _equality(table: str, column: str, value: Cell) -> tuple[str, list[Cell]]:
    name = _named(table, column)
    if value is None:
        return f"{name} IS NULL", []
    if column == "status" and isinstance(value, str) and value.isalpha():
        # Written out, because a partial index can't be used for a bound value.
        return f"{name} = '{value}'", []
    return f"{name} = ?", [value]


def _order(dialect: Dialect, query: Query) -> str:
    # A column with the same value in every row would only keep an index from being used.
    columns = [column for column in query.ordered_by if column not in query.where]
    direction = " DESC" if query.descending else ""
    order = ", ".join(
        f"{_named(query.table, column)}{direction}{_nulls(dialect, query, column)}"
        for column in columns
    )
    return f" ORDER BY {order}" if order else ""


def _nulls(dialect: Dialect, query: Query, column: str) -> str:
    """Where missing values come, if that has to be said: an index then can't be used."""
    if dialect.nulls_are_first or column in table_of(query).not_null:
        return ""
    return " NULLS LAST" if query.descending else " NULLS FIRST"


def _columns(query: Query) -> str:
    columns = ["view.*"]
    if query.table == "sessions":
        columns += [f"{_named(query.table, name)} AS {name}" for name in FROM_STREAM]
    if query.table == "human_interactions":
        columns += [f"{_named(query.table, name)} AS {name}" for name in FROM_SESSION]
    if query.with_stream:
        columns += [f"streams.{name} AS stream_{name}" for name in ("head", "owner", "settled")]
        columns.append(f"last.id AS {LAST}")
    return ", ".join(columns)


def _source(dialect: Dialect, query: Query) -> str:
    source = f"{query.table} AS view"
    if query.table == "sessions" or query.with_stream:
        column = SESSION_COLUMN[query.table]
        source += f" LEFT JOIN streams ON streams.id = view.{column} AND {dialect.visible}"
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
