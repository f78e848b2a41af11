"""Changes and queries of views as PostgreSQL's SQL: one statement for all changes of a shape."""

import functools
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from callboard.events.rows import KEYS, Cell, Change, Drop, Put, Query, RowChange
from callboard.log.coalescing import coalesce
from callboard.log.postgres.connections import Execution
from callboard.log.tables import Table, table_of
from callboard.log.view_queries import Dialect, select_in

_DIALECT = Dialect(
    contains="strpos({}, ?) > 0",
    contains_small="strpos(lower({}::text), ?) > 0",
    visible="streams.hidden = 0",
    total="coalesce(sum({}), 0)::bigint",
    no_limit=None,
    nulls_are_first=False,
)

_NUL = "\x00"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def select(query: Query) -> tuple[bytes, list[Cell]]:
    """The statement for a query."""
    sql, values = select_in(_DIALECT, query)
    return sql.replace("?", "%s").encode(), [
        stored_text(value) if isinstance(value, str) else value for value in values
    ]


def stored_text(text: str) -> str:
    """A text that PostgreSQL accepts: it has no NUL."""
    return text.replace(_NUL, _REPLACEMENT)


class _Shape(NamedTuple):
    """What changes have in common that one statement can make."""

    table: str
    kind: type[RowChange]
    new: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Columns that have to be NULL, which no value equals."""

    @property
    def is_repeatable(self) -> bool:
        """Whether one statement can make several changes, if they name different rows."""
        if self.kind is Change:
            return bool(self.where) and {*self.new, *self.add}.isdisjoint(self.where)
        return bool(self.new or self.where)


def check(changes: Sequence[RowChange]) -> list[RowChange]:
    """The changes, with every column of new rows; raises if a view can't store one of them."""
    checked: list[RowChange] = []
    for change in changes:
        table = table_of(change)
        if isinstance(change, Put):
            checked.append(Put(change.table, table.fill(change.row)))
            continue
        table.check(change.where)
        if isinstance(change, Change):
            table.check([*change.set, *change.add])
        checked.append(change)
    return checked


def statements(changes: Sequence[RowChange]) -> Iterator[Execution]:
    """The statements for the changes of a whole group, which `check` has returned.

    Their parameters are arrays with a value for each change.
    """
    joined = coalesce(changes)
    # Changes to different views don't affect each other.
    for name in KEYS:
        ordered = _by_shape([change for change in joined if change.table == name])
        for shape, alike in groupby(ordered, key=_shape):
            yield from _executions(shape, list(alike))


def _by_shape(changes: list[RowChange]) -> list[RowChange]:
    """The changes of a view, with those of a shape together if their order doesn't matter."""
    names = [_row_name(change) for change in changes]
    if None in names or len(set(names)) < len(names):
        return changes
    shapes: dict[_Shape, list[RowChange]] = {}
    for change in changes:
        shapes.setdefault(_shape(change), []).append(change)
    return [change for alike in shapes.values() for change in alike]


def _row_name(change: RowChange) -> tuple[Cell, ...] | None:
    """The key of the only row that a change concerns; None if that isn't certain."""
    key = KEYS[change.table]
    if isinstance(change, Put):
        return tuple(change.row[column] for column in key)
    if set(change.where) != set(key):
        return None
    if isinstance(change, Change) and not change.set.keys().isdisjoint(key):
        return None
    return tuple(change.where[column] for column in key)


def _shape(change: RowChange) -> _Shape:
    if isinstance(change, Put):
        return _Shape(change.table, Put, tuple(change.row))
    where = tuple(column for column, value in change.where.items() if value is not None)
    missing = tuple(column for column, value in change.where.items() if value is None)
    if isinstance(change, Drop):
        return _Shape(change.table, Drop, where=where, missing=missing)
    return _Shape(change.table, Change, tuple(change.set), tuple(change.add), where, missing)


def _executions(shape: _Shape, changes: list[RowChange]) -> Iterator[Execution]:
    if shape.kind is Change and not shape.new and not shape.add:
        return
    rows = [_values(shape, change) for change in changes]
    named = [row[len(shape.new) + len(shape.add) :] for row in rows]
    together = shape.is_repeatable and (shape.kind is not Change or len(set(named)) == len(named))
    sql = _SQL[shape.kind](shape)
    for some in [rows] if together else [[row] for row in rows]:
        yield sql, [list(column) for column in zip(*some, strict=True)]


def _values(shape: _Shape, change: RowChange) -> tuple[Cell, ...]:
    numbers = table_of(change).numbers
    if isinstance(change, Put):
        return tuple(_cell(value, column in numbers) for column, value in change.row.items())
    cells = [(column, change.where[column]) for column in shape.where]
    if isinstance(change, Change):
        cells = [*change.set.items(), *change.add.items(), *cells]
    return tuple(_cell(value, column in numbers) for column, value in cells)


def _cell(value: Cell, is_number: bool) -> Cell:
    # A list for an array has values of one type, as SQLite would make them.
    if value is None or (is_number and type(value) is int):
        return value
    return int(value) if is_number else stored_text(str(value))


@functools.cache
def _put(shape: _Shape) -> bytes:
    table = table_of(Put(shape.table, {}))
    others = [column for column in shape.new if column not in table.key]
    update = ", ".join(f"{column} = excluded.{column}" for column in others)
    return (
        f"INSERT INTO {shape.table} ({', '.join(shape.new)}) "
        f"SELECT * FROM unnest({_arrays(table, shape.new)}) "
        f"ON CONFLICT ({', '.join(table.key)}) DO {f'UPDATE SET {update}' if others else 'NOTHING'}"
    ).encode()


@functools.cache
def _drop(shape: _Shape) -> bytes:
    return f"DELETE FROM {shape.table}{_matching(shape, 'USING')}".encode()


@functools.cache
def _change(shape: _Shape) -> bytes:
    new = [f"{column} = given.new_{column}" for column in shape.new]
    add = [f"{column} = {shape.table}.{column} + given.add_{column}" for column in shape.add]
    return (
        f"UPDATE {shape.table} SET {', '.join([*new, *add])}{_matching(shape, 'FROM')}"
    ).encode()


_SQL = {Put: _put, Drop: _drop, Change: _change}


def _matching(shape: _Shape, source: str) -> str:
    """The rows that are concerned, and the arrays with the values."""
    table = table_of(Put(shape.table, {}))
    names = [
        *(f"new_{column}" for column in shape.new),
        *(f"add_{column}" for column in shape.add),
        *(f"old_{column}" for column in shape.where),
    ]
    arrays = _arrays(table, (*shape.new, *shape.add, *shape.where))
    given = f" {source} unnest({arrays}) AS given ({', '.join(names)})" if names else ""
    conditions = [f"{shape.table}.{column} = given.old_{column}" for column in shape.where]
    conditions += [f"{shape.table}.{column} IS NULL" for column in shape.missing]
    return given + (f" WHERE {' AND '.join(conditions)}" if conditions else "")


def _arrays(table: Table, columns: Sequence[str]) -> str:
    kinds = ("bigint[]" if column in table.numbers else "text[]" for column in columns)
    return ", ".join(f"%s::{kind}" for kind in kinds)
