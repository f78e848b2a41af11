"""The table of access tokens, used by every request."""

import logging
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import orjson

from callboard.disk.files import read
from callboard.errors import NotFound
from callboard.events.access import SCOPES, Token
from callboard.log.sqlite.table_access import TableAccess

_log = logging.getLogger(__name__)

_COLUMNS: Final = (
    "id, name, person, scope, groups, host, created_at, expires_at, sha256, revoked_at"
)
_LARGEST: Final = 4 * 1_048_576
_LISTED: Final = 1000
"""The maximum number of tokens in a list."""


class SqliteTokens:
    """Finds tokens by their hash, and caches them until the file changes."""

    def __init__(self, access: TableAccess) -> None:
        self._reading = access.reading
        self._writing = access.writing
        self._reads = access.reads
        self._in_transaction = access.in_transaction
        self._version = -1
        self._known: dict[str, Token] = {}

    async def find(self, sha256: str) -> Token | None:
        """The token with this hash, even if it is revoked or expired."""
        with self._reads():
            # Changes with every commit to the file, by any process.
            (version,) = self._reading.execute("PRAGMA data_version").fetchone()
            if version != self._version:
                self._known.clear()
                self._version = version
            found = self._known.get(sha256)
            if found is None:
                # By an index: timing reveals nothing about similar secrets.
                sql = f"SELECT {_COLUMNS} FROM tokens WHERE sha256 = ?"
                row = self._reading.execute(sql, (sha256,)).fetchone()
                if row is None:
                    return None
                found = self._known[sha256] = _token(row)
            return found

    async def list(self) -> list[Token]:
        """The tokens that are not revoked, oldest first."""
        with self._reads():
            sql = (
                f"SELECT {_COLUMNS} FROM tokens WHERE revoked_at IS NULL "
                "ORDER BY created_at, id LIMIT ?"
            )
            return [_token(row) for row in self._reading.execute(sql, (_LISTED,)).fetchall()]

    async def add(self, token: Token) -> None:
        """Store a token; others see it when this returns."""

        def insert() -> None:
            _insert(self._writing, [token])
            self._writing.execute("COMMIT")

        await self._in_transaction(insert)

    async def revoke(self, id: str, at_ms: int) -> Token:
        """Revoke a token; NotFound if it doesn't exist."""

        def update() -> Token:
            sql = f"SELECT {_COLUMNS} FROM tokens WHERE id = ? AND revoked_at IS NULL"
            row = self._writing.execute(sql, (id,)).fetchone()
            if row is None:
                raise NotFound(
                    f"There is no token {id}. List the tokens: callboard token list", id=id
                )
            revoke = "UPDATE tokens SET revoked_at = ? WHERE id = ?"
            self._writing.execute(revoke, (at_ms, id))
            self._writing.execute("COMMIT")
            return _token(row)

        return await self._in_transaction(update)


def token_file(database: Path) -> Path:
    """Where tokens were stored before they had a table."""
    return database.with_name(f"{database.name}.tokens")


def import_tokens(database: sqlite3.Connection, path: Path) -> None:
    """Import the tokens from the file into the table, once. The caller holds the write lock.

    If the process dies before renaming the file, the next one imports again. Tokens that were
    revoked meanwhile have a row and stay revoked.
    """
    file = token_file(path)
    try:
        kept = orjson.loads(read(file, _LARGEST))
        tokens = [_from_file(one) for one in kept]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.error(
            "%s can't be read (%s), so its tokens don't work. Create new ones: "
            "callboard token create",
            file,
            error,
        )
        _put_aside(file, "damaged")
        return
    database.execute("BEGIN IMMEDIATE")
    _insert(database, tokens)
    database.execute("COMMIT")
    file.chmod(0o600)
    _put_aside(file, "imported")


def _put_aside(file: Path, why: str) -> None:
    file.replace(file.with_name(f"{file.name}.{why}"))


def _insert(database: sqlite3.Connection, tokens: Iterable[Token]) -> None:
    marks = ", ".join("?" * len(_COLUMNS.split(", ")))
    sql = f"INSERT OR IGNORE INTO tokens ({_COLUMNS}) VALUES ({marks})"
    database.executemany(sql, [_row(token) for token in tokens])


def _row(token: Token) -> tuple[object, ...]:
    groups = orjson.dumps(token.groups).decode()
    who = (token.id, token.name, token.person, token.scope, groups, token.host)
    return (*who, token.created_at, token.expires_at, token.sha256, token.revoked_at)


def _token(row: tuple[Any, ...]) -> Token:
    id, name, person, scope, groups, *rest = row
    return Token(id, name, person, scope, tuple(orjson.loads(groups)), *rest)


def _from_file(kept: dict[str, object]) -> Token:
    scope = kept["scope"]
    if scope not in SCOPES:
        raise ValueError(f"unknown scope {scope!r}")
    until, name = kept["expiresAt"], str(kept["name"])
    return Token(
        id=str(kept["id"]),
        name=name,
        person=name,
        scope=scope,
        groups=(),
        host=None,
        created_at=_number(kept["createdAt"]),
        expires_at=None if until is None else _number(until),
        sha256=str(kept["sha256"]),
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number")
    return value
