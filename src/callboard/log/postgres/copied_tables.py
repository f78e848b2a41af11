"""The tables that `callboard copy` copies: SQLite's rows in the form that PostgreSQL has them."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from callboard.errors import StoreError
from callboard.events.rows import KEYS
from callboard.log.postgres.views import stored_text
from callboard.log.records import id_bytes
from callboard.log.tables import shapes

Stored = int | str | bytes | bool | None
CopiedRow = tuple[Stored, ...]

_LONG = 1000
"""Texts with more bytes are compared by their hash, so that few of them are in memory at once."""

# How a column is stored → its type. An exact text is refused if it contains NUL, others get a
# replacement character instead, as when they are written by the log.
_TYPES = {
    "number": "int8",
    "small": "int4",
    "flag": "bool",
    "text": "text",
    "exact": "text",
    "id": "bytea",
    "payload": "bytea",
}


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table of both databases, its key, and how each column is stored."""

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]

    @property
    def types(self) -> list[str]:
        """PostgreSQL's types of the columns."""
        return [_TYPES[kind] for kind in self.columns.values()]

    @property
    def listed(self) -> str:
        """The columns, for SQL."""
        return ", ".join(self.columns)

    def rows(self, source: sqlite3.Connection, after: int | None = None) -> Iterator[CopiedRow]:
        """The rows in SQLite by their key, those after a value of it."""
        where = "" if after is None else f" WHERE {self.key[0]} > {after}"
        sql = f"SELECT {self.listed} FROM {self.name}{where} ORDER BY {', '.join(self.key)}"
        kinds = list(self.columns.items())
        for row in source.execute(sql):
            yield tuple(
                self._stored(column, kind, value)
                for (column, kind), value in zip(kinds, row, strict=True)
            )

    def count(self, source: sqlite3.Connection, upto: int | None = None) -> int:
        """How many rows there are in SQLite, up to a value of the key."""
        where = "" if upto is None else f" WHERE {self.key[0]} <= {upto}"
        return source.execute(f"SELECT count(*) FROM {self.name}{where}").fetchone()[0]

    def _stored(self, column: str, kind: str, value: Stored) -> Stored:
        if value is None:
            return None
        try:
            return _converted(kind, value)
        except ValueError as error:
            raise StoreError(
                f"PostgreSQL can't store a value in {self.name}.{column} of the source: {error}."
            ) from error

    def shortened(self, row: CopiedRow) -> CopiedRow:
        """The row as it is compared: with hashes of long values."""
        return tuple(
            _short(kind, value) for kind, value in zip(self.columns.values(), row, strict=True)
        )

    @property
    def select_shortened(self) -> str:
        """The SQL that reads such rows from PostgreSQL, by their key."""
        columns = ", ".join(_short_sql(kind, column) for column, kind in self.columns.items())
        order = ", ".join(f"{self.name}.{column}" for column in self.key)
        return f"SELECT {columns} FROM {self.name} ORDER BY {order}"


def _converted(kind: str, value: Stored) -> Stored:
    match kind:
        case "number" | "small":
            return int(value or 0)
        case "flag":
            return bool(value)
        case "id":
            return id_bytes(value if isinstance(value, bytes) else str(value))
        case "payload":
            # SQLite stores what it was given, which may be text.
            return value.encode() if isinstance(value, str) else value
        case "exact":
            if "\x00" in str(value):
                raise ValueError("it contains a NUL character")
            return str(value)
        case _:
            return stored_text(str(value))


def _short(kind: str, value: Stored) -> Stored:
    if kind == "payload" and isinstance(value, bytes):
        return hashlib.sha256(value).digest()
    if _TYPES[kind] == "text" and isinstance(value, str) and len(data := value.encode()) > _LONG:
        return hashlib.sha256(data).hexdigest()
    return value


def _short_sql(kind: str, column: str) -> str:
    if kind == "payload":
        return f"sha256({column})"
    if _TYPES[kind] == "text":
        hashed = f"encode(sha256(convert_to({column}, 'UTF8')), 'hex')"
        return f"CASE WHEN octet_length({column}) > {_LONG} THEN {hashed} ELSE {column} END"
    return column


EVENTS = CopiedTable(
    "events",
    ("seq",),
    {
        "seq": "number",
        "stream": "number",
        "position": "number",
        "id": "id",
        "name": "exact",
        "version": "number",
        "at": "number",
        "caused_by": "id",
        "payload": "payload",
    },
)
STREAMS = CopiedTable(
    "streams",
    ("key",),
    {
        "key": "number",
        "id": "exact",
        "base": "number",
        "base_position": "number",
        "head": "number",
        "updated_at": "number",
        "owner": "exact",
        "epoch": "number",
        "settled": "number",
        "unsettled": "flag",
        "hidden": "small",
    },
)
TOKENS = CopiedTable(
    "tokens",
    ("id",),
    {
        **dict.fromkeys(("id", "name", "person", "scope", "groups", "host"), "text"),
        **dict.fromkeys(("created_at", "expires_at"), "number"),
        "sha256": "text",
        "revoked_at": "number",
    },
)
LIMITS = CopiedTable("limits", ("name",), {"name": "text", "number": "number"})


def views() -> list[CopiedTable]:
    """The tables that are derived from the log."""
    return [
        CopiedTable(
            name,
            key,
            {
                column: "number" if column in shapes()[name].numbers else "text"
                for column in shapes()[name].defaults
            },
        )
        for name, key in KEYS.items()
    ]
