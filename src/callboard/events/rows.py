"""Changes to rows of the queryable views, as data.

A pure function turns each event into such changes, and the log applies them in the transaction that
stores the event. So the log knows nothing about views, and views know nothing about SQL.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callboard.events.envelope import Event

Cell = str | int | float | None


# These three are not frozen: then it would take three times as long to create one, and every event
# has some.


@dataclass(slots=True)
class Put:
    """Insert a row, or replace the one with the same key."""

    table: str
    row: Mapping[str, Cell]


@dataclass(slots=True)
class Change:
    """Change the rows whose columns equal `where`: set some columns, add to others."""

    table: str
    where: Mapping[str, Cell]
    set: Mapping[str, Cell] = field(default_factory=dict[str, Cell])
    add: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class Drop:
    """Delete the rows whose columns equal `where`."""

    table: str
    where: Mapping[str, Cell]


RowChange = Put | Change | Drop

KEYS: Mapping[str, tuple[str, ...]] = {
    "sessions": ("id",),
    "human_interactions": ("id",),
    "tasks": ("id",),
    "checkpoints": ("session", "position"),
    "wakeups": ("session", "key"),
    "plates": ("id",),
    "plate_sessions": ("session_id", "plate"),
    "hosts": ("id",),
    "plate_messages": ("id",),
    "token_usage": ("id",),
}
"""The views, and the columns that make their rows unique."""

SESSION_COLUMN: Mapping[str, str] = {
    "sessions": "id",
    "human_interactions": "stream",
    "tasks": "execution_id",
    "checkpoints": "session",
    "wakeups": "session",
    "plates": "id",
    "plate_sessions": "plate",
    "hosts": "stream",
    "plate_messages": "plate",
    "token_usage": "stream",
}
"""The column of each view that has the id of a row's stream."""

SHARED = "checkpoints"
"""The view whose rows forks need for as long as they need the events."""

Row = dict[str, Any]


def where_given(**columns: Cell) -> dict[str, Cell]:
    """A condition on the columns that have a value."""
    return {column: value for column, value in columns.items() if value is not None}


def weight(row: Row) -> int:
    """How many characters the cells of a row have."""
    return sum(len(cell) for cell in row.values() if isinstance(cell, str))


def sized(rows: Iterable[Row], size: int) -> list[Row]:
    """The first rows, up to the one that brings them to this many characters."""
    found: list[Row] = []
    for row in rows:
        found.append(row)
        size -= weight(row)
        if size <= 0:
            break
    return found


Projection = Callable[[Event], Iterable[RowChange]]


@dataclass(frozen=True, slots=True)
class Query:
    """A query on one view: equality, bounds, an order and a limit.

    at_most, at_least: a column, and a bound for it.
    columns: only these columns of each row, which is faster if an index has all of them.
    binned: a column, a width and an offset: the column has the number of its value's bin,
        `(value + offset) // width`. For numbers from 0.
    count: the result is one row, whose only column `count` is the number of rows. With `columns`,
        there is a row for each combination of their values, ordered by them; `limit` is then how
        many rows are counted at most, the first ones in the order.
    sums: other columns, added up for each of these combinations.
    size: no more rows once their cells have this many characters in total.
    one_of: a column, and the values that it may have.
    holds: a column with a JSON list of texts, and what it must contain one of: text as JSON, or
        None for an empty column.
    text: columns, and what one of them must contain, ignoring case for ASCII letters.
    beyond: only rows after the one with these values, which are those of `order` and of the view's
        key. All of them are required.
    with_stream: each row also has the status of its stream when it was read: `stream_head`,
        `stream_last` (the id of its last event), `stream_owner` and `stream_settled`.
    """

    table: str
    where: Mapping[str, Cell] = field(default_factory=dict[str, Cell])
    at_most: tuple[str, int] | None = None
    order: str | None = None
    descending: bool = False
    limit: int | None = None
    size: int | None = None
    count: bool = False
    one_of: tuple[str, Sequence[Cell]] | None = None
    holds: tuple[str, Sequence[str | None]] | None = None
    text: tuple[Sequence[str], str] | None = None
    beyond: Sequence[Cell] | None = None
    with_stream: bool = False
    at_least: tuple[str, int] | None = None
    columns: Sequence[str] | None = None
    binned: tuple[str, int, int] | None = None
    sums: Sequence[str] = ()

    @property
    def ordered_by(self) -> tuple[str, ...]:
        """The columns that the rows are ordered by: the given one, then the key."""
        first = () if self.order is None else (self.order,)
        return tuple(dict.fromkeys((*first, *KEYS.get(self.table, ()))))
