"""The shapes of the views: the columns of a row, and their defaults. And the steps of a schema.

Read from the migrations themselves, so that the schema is defined in one place.
"""

import functools
import hashlib
import sqlite3
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from callboard.errors import StoreError, StoreTooNew, ValidationError
from callboard.events.rows import KEYS, Cell, Query, RowChange

FROM_STREAM = ("position", "updated_at", "owner")
"""Additional columns of `sessions`, taken from the stream."""

FROM_SESSION = {"workflow": "workflow", "session_title": "title"}
"""Additional columns of `human_interactions`, each with the asking session's column."""

_JOINED = {"sessions": FROM_STREAM, "human_interactions": tuple(FROM_SESSION)}


@dataclass(frozen=True, slots=True)
class Table:
    """One view: its key, the columns that can be written, and all that can be queried."""

    name: str
    key: tuple[str, ...]
    defaults: Mapping[str, Cell]
    not_null: frozenset[str]
    readable: frozenset[str]
    numbers: frozenset[str] = frozenset()

    def fill(self, row: Mapping[str, Cell]) -> dict[str, Cell]:
        """The row with every column; an error if a required one is missing."""
        self.check(row)
        full = {column: row.get(column, value) for column, value in self.defaults.items()}
        for column in self.not_null:
            if full[column] is None:
                full[column] = self.defaults[column]
            if full[column] is None:
                raise StoreError(f"A row of {self.name} needs a value for {column}.")
        return full

    def check(self, columns: Collection[str]) -> None:
        """Refuse columns that the view cannot store."""
        if unknown := [column for column in columns if column not in self.defaults]:
            raise ValidationError(f"The view {self.name} has no column {unknown[0]}.")

    def check_query(self, query: Query) -> None:
        """Refuse a query for columns that the view doesn't have."""
        asked = [*query.where, *query.ordered_by, *(query.text[0] if query.text else ())]
        asked += [*(query.columns or ()), *query.sums]
        bounds = (query.at_most, query.at_least, query.one_of, query.holds, query.binned)
        asked += [one[0] for one in bounds if one]
        if unknown := [column for column in asked if column not in self.readable]:
            raise ValidationError(f"The view {self.name} has no column {unknown[0]}.")
        if twice := set(query.sums) & set(query.columns or ()):
            raise ValidationError(f"{min(twice)} can't be both grouped by and summed.")
        if query.beyond is not None:
            self._check_place(query.ordered_by, query.beyond)

    def _check_place(self, columns: Sequence[str], place: Sequence[Cell]) -> None:
        # Nothing comes before or after a missing value.
        if len(place) != len(columns) or None in place:
            raise ValidationError(
                f"A place in {self.name} needs a value for each of {', '.join(columns)}."
            )
        if uncertain := [column for column in columns if column not in self.not_null]:
            raise ValidationError(
                f"{uncertain[0]} may be missing in {self.name}: order by another column."
            )


_SMALL = {ord(letter): ord(letter) + 32 for letter in string.ascii_uppercase}


def small(text: str) -> str:
    """The text with ASCII letters in lowercase, as every database can do."""
    return text.translate(_SMALL)


def table_of(change: RowChange | Query) -> Table:
    """The shape of a change's view; raises if there is no such view."""
    table = shapes().get(change.table)
    if table is None:
        raise ValidationError(
            f"There is no view named {change.table}; there are {', '.join(sorted(KEYS))}."
        )
    return table


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step: `0001_initial.sql` is version 1."""

    name: str
    sql: str

    @property
    def version(self) -> int:
        """The number at the start of the file's name."""
        return int(self.name.split("_")[0])

    @property
    def checksum(self) -> str:
        """Shows whether the step was edited after it was applied."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations(package: str = "callboard.log.sqlite") -> list[Migration]:
    """Every migration of a log, oldest first."""
    folder = resources.files(package).joinpath("migrations")
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    found = [Migration(file.name, file.read_text(encoding="utf-8")) for file in files]
    return sorted(found, key=lambda step: step.name)


Applied = Mapping[int, tuple[str, str]]
"""The steps that a database has: their names and checksums, by version."""


def missing_from(
    applied: Applied, steps: Sequence[Migration], place: str, *, ahead: int = 0
) -> list[Migration]:
    """The steps that a database doesn't have yet; raises an error if it isn't ours.

    place: the database's path or address, for errors. ahead: by how many versions it may be newer.
    """
    newest = max((step.version for step in steps), default=0)
    if applied and max(applied) > newest + ahead:
        raise StoreTooNew(
            f"{place} has schema version {max(applied)}, and this Callboard knows {newest}; "
            "nothing was changed. Install the newer Callboard that wrote it, or choose another "
            "database.",
            path=place,
            found=max(applied),
            known=newest,
        )
    for step in steps:
        if step.version in applied and applied[step.version] != (step.name, step.checksum):
            raise StoreError(
                f"Migration {step.version} of {place} differs from {step.name}. Never edit an "
                "applied migration: restore the file and add a new one.",
                path=place,
                version=step.version,
            )
    return [step for step in steps if step.version not in applied]


@functools.cache
def shapes() -> Mapping[str, Table]:
    """The shape of every view."""
    database = sqlite3.connect(":memory:")
    try:
        for step in migrations():
            database.executescript(step.sql)
        return {name: _describe(database, name, key) for name, key in KEYS.items()}
    finally:
        database.close()


def _describe(database: sqlite3.Connection, name: str, key: tuple[str, ...]) -> Table:
    defaults: dict[str, Cell] = {}
    not_null: set[str] = set()
    numbers: set[str] = set()
    readable = set(_JOINED.get(name, ()))
    columns = database.execute(f"PRAGMA table_xinfo({name})").fetchall()
    for _, column, kind, must, default, _, hidden in columns:
        readable.add(column)
        if kind == "INTEGER":
            numbers.add(column)
        if hidden:
            continue
        (defaults[column],) = database.execute(f"SELECT {default or 'NULL'}").fetchone()
        if must:
            not_null.add(column)
    shape = (frozenset(not_null), frozenset(readable), frozenset(numbers))
    return Table(name, key, defaults, *shape)
