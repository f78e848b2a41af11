"""Changes to rows of the queryable views, as data.

A pure function turns each event into such changes, and the log carries them out in the
transaction that stores the event. So the log knows no view, and no view knows SQL.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callboard.events.envelope import Event

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Put:
    """Insert a row, or replace the one with the same key."""

    table: str
    row: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Change:
    """Change the rows whose columns equal `where`: set some columns, add to others."""

    table: str
    where: Mapping[str, Cell]
    set: Mapping[str, Cell] = field(default_factory=dict[str, Cell])
    add: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
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
}
"""The views and the columns that make a row of theirs unique."""

SESSION_COLUMN: Mapping[str, str] = {
    "sessions": "id",
    "human_interactions": "stream",
    "tasks": "execution_id",
    "checkpoints": "session",
    "wakeups": "session",
    "plates": "id",
    "plate_sessions": "plate",
}
"""Which column of a view names the stream that a row comes from."""

SHARED = "checkpoints"
"""The view whose rows are needed by forks, for as long as they need the events."""

Row = dict[str, Any]


def where_given(**columns: Cell) -> dict[str, Cell]:
    """A condition on those columns for which there is a value."""
    return {column: value for column, value in columns.items() if value is not None}


def weight(row: Row) -> int:
    """How many characters the cells of a row have."""
    return sum(len(cell) for cell in row.values() if isinstance(cell, str))


def sized(rows: Iterable[Row], size: int) -> list[Row]:
    """The first rows, up to the one with which they have so many characters."""
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
    """A question to one view: equality, bounds, an order and a limit.

    at_most, at_least: a column, and a bound for it.
    columns: only these columns of each row, which is cheaper where an index has them all.
    binned: a column, a width and an offset: the column has the number of the bin that its value
        is in, `(value + offset) // width`. For numbers from 0 on.
    count: the answer is one row, whose only column `count` says how many there are. With
        `columns` there is a row for each combination of their values, ordered by them; then
        `limit` says how many rows are counted at most, the first ones in the order.
    sums: other columns, which are added up for each of these combinations.
    size: no row after those whose cells have so many characters together.
    one_of: a column, and the values of which it has one.
    holds: a column with a list of texts in JSON, and what one of which it has to contain: a text in
        JSON, or None when the column is empty.
    text: columns, and what one of them contains, in capital or small letters of ASCII.
    beyond: only rows that come later in the order than one with these values, which are those
        of `order` and of the view's key. None of them may be missing.
    with_stream: each row also says how its stream stood when the row was read: `stream_head`,
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
        """The columns by which the rows are ordered: the one that was named, then the key."""
        first = () if self.order is None else (self.order,)
        return tuple(dict.fromkeys((*first, *KEYS.get(self.table, ()))))
