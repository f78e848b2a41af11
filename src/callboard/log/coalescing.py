"""Fewer statements for the same rows: merge changes to one row.

An append often changes the same session row several times (a phase left, the next entered, a
question asked). Changes are merged only if they name their row by its whole key, and only while
nothing in between could have changed the row in another way.
"""

from collections.abc import Iterable, Mapping

from callboard.events.rows import KEYS, Cell, Change, Put, RowChange

RowName = tuple[str, tuple[Cell, ...]]


def coalesce(changes: Iterable[RowChange]) -> list[RowChange]:
    """Changes with the same effect as the given ones, in an order that preserves it."""
    joined: list[RowChange] = []
    places: dict[RowName, int] = {}
    for change in changes:
        name = _row_of(change)
        if name is None:
            places = {row: place for row, place in places.items() if row[0] != change.table}
            joined.append(change)
            continue
        place = places.get(name)
        merged = None if place is None else _join(joined[place], change)
        if place is not None and merged is not None:
            joined[place] = merged
        else:
            places[name] = len(joined)
            joined.append(change)
    return joined


def _row_of(change: RowChange) -> RowName | None:
    """The row that a change affects, if it is certain to be only one."""
    key = KEYS.get(change.table, ())
    columns = change.row if isinstance(change, Put) else change.where
    if isinstance(change, Change) and not change.set.keys().isdisjoint(key):
        return None
    if not isinstance(change, Put) and len(columns) != len(key):
        return None
    try:
        return change.table, tuple([columns[column] for column in key])
    except KeyError:
        return None


def _join(first: RowChange, then: RowChange) -> RowChange | None:
    """One change with the effect of two to the same row; None if that isn't possible."""
    if not isinstance(then, Change):
        # Putting or dropping a row overrides what was done to it before.
        return then
    if isinstance(first, Change):
        new, add = _after(first.set, first.add, then)
        return Change(first.table, first.where, new, add)
    if isinstance(first, Put) and all(_counts(first.row.get(column)) for column in then.add):
        row, _ = _after(first.row, {}, then)
        return Put(first.table, row)
    return None


def _counts(value: Cell) -> bool:
    return isinstance(value, int | float)


def _after(
    new: Mapping[str, Cell], add: Mapping[str, int], then: Change
) -> tuple[dict[str, Cell], dict[str, int]]:
    values = {**new, **then.set}
    sums = {column: more for column, more in add.items() if column not in then.set}
    for column, more in then.add.items():
        value = values.get(column)
        if isinstance(value, int | float):
            values[column] = value + more
        elif column not in values:
            sums[column] = sums.get(column, 0) + more
    return values, sums
