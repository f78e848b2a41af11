"""The views of a log in memory: rows in dictionaries that work like tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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
from callboard.events.status import status_of
from callboard.log.tables import FROM_SESSION, Table, small, table_of

Key = tuple[Cell, ...]
Rows = dict[Key, dict[str, Cell]]


class StreamFacts(NamedTuple):
    """What a row may show about its stream, in addition to its own columns."""

    head: int | None = None
    updated_at: int | None = None
    owner: str | None = None
    settled: int | None = None
    last: str | None = None


OfStream = Callable[[str], StreamFacts]


class MemoryViews:
    """Every view, by name and key."""

    def __init__(self) -> None:
        self._tables: dict[str, Rows] = {name: {} for name in KEYS}
        self._by_stream: dict[str, dict[Cell, Rows]] = {name: {} for name in KEYS}

    def apply(self, changes: Sequence[RowChange]) -> None:
        """Apply the changes in order: all of them, or none if one is wrong."""
        undo: list[tuple[str, Key, dict[str, Cell] | None]] = []
        try:
            for change in changes:
                for table, key, row in self._writes(change):
                    undo.append((table, key, self._tables[table].get(key)))
                    self._write(table, key, row)
        except Exception:
            for table, key, row in reversed(undo):
                self._write(table, key, row)
            raise

    def _write(self, table: str, key: Key, row: dict[str, Cell] | None) -> None:
        rows, streams, column = self._tables[table], self._by_stream[table], SESSION_COLUMN[table]
        before = rows.pop(key, None)
        if before is not None:
            streams[before[column]].pop(key)
            if not streams[before[column]]:
                del streams[before[column]]
        if row is not None:
            rows[key] = row
            streams.setdefault(row[column], {})[key] = row

    def _writes(self, change: RowChange) -> list[tuple[str, Key, dict[str, Cell] | None]]:
        """What a change puts at which keys; None removes the row."""
        table = table_of(change)
        if isinstance(change, Put):
            return [_keyed(table, change.row)]
        table.check(change.where)
        found = self._matching(change.table, change.where)
        gone: list[tuple[str, Key, dict[str, Cell] | None]] = [
            (table.name, key, None) for key, _ in found
        ]
        if isinstance(change, Drop):
            return gone
        table.check([*change.set, *change.add])
        changed = [{**row, **change.set, **_added(row, change.add)} for _, row in found]
        return [*gone, *(_keyed(table, row) for row in changed)]

    def _matching(self, table: str, where: Mapping[str, Cell]) -> list[tuple[Key, dict[str, Cell]]]:
        return [
            (key, row)
            for key, row in self._candidates(table, where).items()
            if all(row[column] == value for column, value in where.items())
        ]

    def _candidates(self, table: str, where: Mapping[str, Cell]) -> Rows:
        """The rows that may match: by key or stream if given, otherwise all."""
        rows = self._tables[table]
        key = tuple(where.get(column) for column in KEYS[table])
        if None not in key:
            return {key: rows[key]} if key in rows else {}
        stream = where.get(SESSION_COLUMN[table])
        return rows if stream is None else self._by_stream[table].get(stream, {})

    def rows(self, query: Query, of_stream: OfStream) -> list[Row]:
        """Run a query on one view."""
        table = table_of(query)
        table.check_query(query)
        rows = self._candidates(query.table, query.where).values()
        if query.table == "sessions":
            rows = [_complete_session(row, of_stream) for row in rows]
        if query.table == "human_interactions":
            rows = [{**row, **self._asking(row)} for row in rows]
        if query.with_stream:
            column = SESSION_COLUMN[query.table]
            rows = [{**row, **_standing(of_stream(str(row[column])))} for row in rows]
        found = [dict(row) for row in rows if _fits(row, query)]
        if query.count and query.columns is None:
            return [{"count": len(found)}]

        def order(row: Row) -> list[tuple[bool, Cell]]:
            return [(row[column] is not None, row[column]) for column in query.ordered_by]

        found.sort(key=order, reverse=query.descending)
        found = found[: query.limit]
        if query.columns is not None:
            found = _narrow(found, query)
        return found if query.size is None else sized(found, query.size)

    def _asking(self, row: Mapping[str, Cell]) -> dict[str, Cell]:
        """A question's additional columns: about the session that asks."""
        session = self._tables["sessions"].get((row["execution_id"],), {})
        return {name: session.get(column) for name, column in FROM_SESSION.items()}


def _narrow(rows: list[Row], query: Query) -> list[Row]:
    """Some columns of the rows, or the number of rows for each combination of their values."""
    columns = tuple(query.columns or ())
    cells = [tuple(_binned(query, name, row[name]) for name in columns) for row in rows]
    if not query.count:
        return [dict(zip(columns, one, strict=True)) for one in cells]
    groups: dict[tuple[Cell, ...], list[Row]] = {} if columns else {(): []}
    for key, row in zip(cells, rows, strict=True):
        groups.setdefault(key, []).append(row)

    def place(key: tuple[Cell, ...]) -> list[tuple[bool, Cell]]:
        return [(cell is not None, cell) for cell in key]

    return [
        {
            **dict(zip(columns, key, strict=True)),
            "count": len(groups[key]),
            **{name: sum(row[name] for row in groups[key]) for name in query.sums},
        }
        for key in sorted(groups, key=place)
    ]


def _binned(query: Query, column: str, value: Cell) -> Cell:
    if query.binned is None or query.binned[0] != column or not isinstance(value, int):
        return value
    _, width, offset = query.binned
    return (value + offset) // width


def _keyed(table: Table, row: Mapping[str, Cell]) -> tuple[str, Key, dict[str, Cell]]:
    full = table.fill(row)
    return table.name, tuple(full[column] for column in table.key), full


def _added(row: Mapping[str, Cell], add: Mapping[str, int]) -> dict[str, Cell]:
    def plus(value: Cell, more: int) -> Cell:
        return value + more if isinstance(value, int | float) else None

    return {column: plus(row[column], more) for column, more in add.items()}


def _complete_session(row: Mapping[str, Cell], of_stream: OfStream) -> dict[str, Cell]:
    ended = row["ended"]
    status = status_of(
        ended=ended if isinstance(ended, str) else None,
        paused=bool(row["paused"]),
        questions=int(row["pending"] or 0),
        entered=row["phase"] is not None,
    )
    position, updated_at, owner, *_ = of_stream(str(row["id"]))
    more = {"status": status, "position": position, "updated_at": updated_at, "owner": owner}
    return {**row, **more}


def _standing(stream: StreamFacts) -> dict[str, Cell]:
    return {
        "stream_head": stream.head,
        "stream_owner": stream.owner,
        "stream_settled": stream.settled,
        "stream_last": stream.last,
    }


def _fits(row: Row, query: Query) -> bool:
    if any(row[column] != value for column, value in query.where.items()):
        return False
    return _is_within(row, query) and _is_chosen(row, query)


def _is_within(row: Row, query: Query) -> bool:
    if query.at_most is not None:
        column, bound = query.at_most
        if row[column] is None or row[column] > bound:
            return False
    if query.at_least is not None:
        column, bound = query.at_least
        if row[column] is None or row[column] < bound:
            return False
    if query.beyond is None:
        return True
    here, there = [row[column] for column in query.ordered_by], list(query.beyond)
    return here < there if query.descending else here > there


def _is_chosen(row: Row, query: Query) -> bool:
    if query.one_of is not None:
        column, values = query.one_of
        if row[column] is None or row[column] not in values:
            return False
    if query.holds is not None and not _holds(row[query.holds[0]], query.holds[1]):
        return False
    if query.text is None:
        return True
    columns, wanted = query.text
    cells = [row[column] for column in columns]
    return any(small(wanted) in small(str(cell)) for cell in cells if cell is not None)


def _holds(cell: Cell, wanted: Sequence[str | None]) -> bool:
    return any(one in str(cell) if one and cell else one is cell is None for one in wanted)
