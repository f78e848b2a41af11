"""The table of what servers share for a while. Expiry is measured by the database's clock."""

from collections.abc import Callable, Collection, Mapping, Sequence

from psycopg.rows import TupleRow

from callboard.log.postgres.connections import Link, ReadPool
from callboard.log.postgres.liveness import Liveness
from callboard.log.protocol import HELD_FOR

_NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
# A statement that is repeated after a lost connection finds its own value, and says so. Rows that
# others remove at the same time are left to them.
_ADD = f"""
WITH swept AS (
    DELETE FROM server_state WHERE (kind, key, owner) IN (
        SELECT kind, key, owner FROM server_state
        WHERE expires_at <= {_NOW} AND (kind, key) <> (%(kind)s, %(key)s)
        LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO server_state AS stored (kind, key, value, expires_at)
VALUES (%(kind)s, %(key)s, %(value)s, {_NOW} + %(lasts)s::bigint)
ON CONFLICT (kind, key, owner) DO UPDATE SET
    value = excluded.value, expires_at = excluded.expires_at
WHERE stored.value = excluded.value OR stored.expires_at <= {_NOW}
RETURNING true
"""
_FIND = f"""
SELECT value FROM server_state
WHERE kind = %s AND key = %s AND owner = '' AND expires_at > {_NOW}
"""
_TAKE = f"""
DELETE FROM server_state WHERE kind = %s AND key = %s AND owner = ''
RETURNING value, expires_at > {_NOW}
"""
_EVERY = f"""
SELECT value FROM server_state WHERE kind = %s AND owner = '' AND expires_at > {_NOW}
"""
_CLEAR = "DELETE FROM server_state WHERE kind = %s"
_HOLD = f"""
INSERT INTO server_state (kind, key, owner, expires_at)
VALUES (%s, %s, %s, {_NOW} + %s::bigint)
ON CONFLICT (kind, key, owner) DO UPDATE SET expires_at = excluded.expires_at
"""
_RELEASE = "DELETE FROM server_state WHERE kind = %s AND key = %s AND owner = %s"
_HOLDERS = """
SELECT key, owner FROM server_state
WHERE kind = %s AND key = ANY (%s) AND owner <> '' AND owner <> %s
"""
_HELD = f"""
SELECT DISTINCT owner FROM server_state
WHERE kind = %s AND starts_with(key, %s) AND owner <> '' AND owner <> %s AND expires_at > {_NOW}
"""
_ADOPT = f"""
WITH moved AS (
    DELETE FROM server_state
    WHERE kind = %(kind)s AND starts_with(key, %(start)s) AND owner = ANY (%(dead)s)
    RETURNING key, expires_at > {_NOW} AS lasts
),
mine AS (
    INSERT INTO server_state (kind, key, owner, expires_at)
    SELECT DISTINCT %(kind)s, key, %(owner)s, {_NOW} + %(lasts)s::bigint FROM moved WHERE lasts
    ON CONFLICT (kind, key, owner) DO NOTHING
)
SELECT DISTINCT key FROM moved WHERE lasts
"""


class PostgresServerState:
    """Values and holds, in one table. Whether a holder is alive is known from `owners`."""

    def __init__(
        self, owner: str, pool: Callable[[], ReadPool], liveness: Callable[[], Liveness]
    ) -> None:
        self._owner = owner
        self._pool = pool
        self._liveness = liveness

    async def add(self, kind: str, key: str, value: str, seconds: float) -> bool:
        """Store a value for so long; returns whether it is the one that is stored now."""
        given = {"kind": kind, "key": key, "value": value, "lasts": round(seconds * 1000)}
        return bool(await self._all(_ADD, given))

    async def find(self, kind: str, key: str) -> str | None:
        """The value, unless it has expired."""
        rows = await self._all(_FIND, (kind, key))
        return rows[0][0] if rows else None

    async def take(self, kind: str, key: str) -> str | None:
        """Remove a value and return it, unless it has expired; of several callers, one gets it."""
        rows = await self._all(_TAKE, (kind, key))
        return rows[0][0] if rows and rows[0][1] else None

    async def values(self, kind: str) -> list[str]:
        """Every value of a kind that has not expired, in no particular order."""
        return [row[0] for row in await self._all(_EVERY, (kind,))]

    async def clear(self, kind: str) -> None:
        """Remove every value of a kind."""
        await self._execute(_CLEAR, kind)

    async def hold(self, kind: str, key: str) -> None:
        """Show other handles that this one holds a key, until it releases it or dies."""
        await self._liveness().ready()
        await self._execute(_HOLD, kind, key, self._owner, round(HELD_FOR * 1000))

    async def release(self, kind: str, key: str) -> None:
        """Hold a key no longer."""
        await self._execute(_RELEASE, kind, key, self._owner)

    async def held_elsewhere(self, kind: str, keys: Collection[str]) -> set[str]:
        """Those of the keys that another living handle holds."""
        if not keys:
            return set()
        rows = await self._all(_HOLDERS, (kind, list(keys), self._owner))
        dead = {owner for owner in {row[1] for row in rows} if await self._has_died(owner)}
        return {key for key, owner in rows if owner not in dead}

    async def adopt(self, kind: str, start: str) -> set[str]:
        """Hold the keys with this start that dead handles held; one of several callers gets it."""
        rows = await self._all(_HELD, (kind, start, self._owner))
        dead = [owner for (owner,) in rows if await self._has_died(owner)]
        if not dead:
            return set()
        await self._liveness().ready()
        given = {"kind": kind, "start": start, "dead": dead, "owner": self._owner}
        found = await self._all(_ADOPT, {**given, "lasts": round(HELD_FOR * 1000)})
        return {key for (key,) in found}

    async def _has_died(self, owner: str) -> bool:
        return await self._liveness().has_died(owner)

    async def _execute(self, sql: str, *values: str | int) -> None:
        await self._pool().run(lambda link: link.execute(sql.encode(), values))

    async def _all(
        self, sql: str, values: Sequence[object] | Mapping[str, object]
    ) -> Sequence[TupleRow]:
        async def fetch(link: Link) -> Sequence[TupleRow]:
            return await (await link.execute(sql.encode(), values)).fetchall()

        return await self._pool().run(fetch)
