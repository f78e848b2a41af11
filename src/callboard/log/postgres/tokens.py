"""The table of access tokens, used by every request."""

from collections.abc import Callable, Sequence
from typing import Final

import orjson
from psycopg.rows import TupleRow

from callboard.errors import NotFound
from callboard.events.access import Token
from callboard.log.postgres.connections import Link, ReadPool

_COLUMNS: Final = (
    "id, name, person, scope, groups, host, created_at, expires_at, sha256, revoked_at"
)
_LISTED: Final = 1000
"""The maximum number of tokens in a list."""

_FIND = f"SELECT {_COLUMNS} FROM tokens WHERE sha256 = %s".encode()
_LIST = (
    f"SELECT {_COLUMNS} FROM tokens WHERE revoked_at IS NULL ORDER BY created_at, id LIMIT %s"
).encode()
_ADD = (
    f"INSERT INTO tokens ({_COLUMNS}) VALUES ({', '.join(['%s'] * 10)}) ON CONFLICT DO NOTHING"
).encode()
_REVOKE = (
    "UPDATE tokens SET revoked_at = %s WHERE id = %s AND revoked_at IS NULL "
    "RETURNING id, name, person, scope, groups, host, created_at, expires_at, sha256, NULL"
)


class PostgresTokens:
    """Finds tokens by their hash, each time in the database: others may revoke them."""

    def __init__(self, pool: Callable[[], ReadPool]) -> None:
        self._pool = pool

    async def find(self, sha256: str) -> Token | None:
        """The token with this hash, even if it is revoked or expired."""
        # By an index: timing reveals nothing about similar secrets.
        rows = await self._all(_FIND, (sha256,))
        return _token(rows[0]) if rows else None

    async def list(self) -> Sequence[Token]:
        """The tokens that are not revoked, oldest first."""
        return [_token(row) for row in await self._all(_LIST, (_LISTED,))]

    async def add(self, token: Token) -> None:
        """Store a token; others see it when this returns."""
        groups = orjson.dumps(token.groups).decode()
        who = (token.id, token.name, token.person, token.scope, groups, token.host)
        row = (*who, token.created_at, token.expires_at, token.sha256, token.revoked_at)
        await self._pool().run(lambda link: link.execute(_ADD, row))

    async def revoke(self, id: str, at_ms: int) -> Token:
        """Revoke a token; NotFound if it doesn't exist."""
        rows = await self._all(_REVOKE.encode(), (at_ms, id))
        if not rows:
            raise NotFound(f"There is no token {id}. List the tokens: callboard token list", id=id)
        return _token(rows[0])

    async def _all(self, sql: bytes, values: tuple[object, ...]) -> Sequence[TupleRow]:
        async def fetch(link: Link) -> Sequence[TupleRow]:
            return await (await link.execute(sql, values)).fetchall()

        return await self._pool().run(fetch)


def _token(row: TupleRow) -> Token:
    id, name, person, scope, groups, *rest = row
    return Token(id, name, person, scope, tuple(orjson.loads(groups)), *rest)
