"""The table of what servers share for a while."""

from collections.abc import Callable, Collection

from callboard.log.owners import Heartbeat, Owners
from callboard.log.protocol import HELD_FOR
from callboard.log.sqlite.table_access import TableAccess

_SWEEP = "DELETE FROM server_state WHERE expires_at <= ?"
_ADD = """
INSERT INTO server_state (kind, key, value, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (kind, key, owner) DO UPDATE SET expires_at = excluded.expires_at
WHERE server_state.value = excluded.value
"""
_FIND = (
    "SELECT value FROM server_state WHERE kind = ? AND key = ? AND owner = '' AND expires_at > ?"
)
_TAKE = "DELETE FROM server_state WHERE kind = ? AND key = ? AND owner = ''"
_ALL = "SELECT value FROM server_state WHERE kind = ? AND owner = '' AND expires_at > ?"
_CLEAR = "DELETE FROM server_state WHERE kind = ?"
_HOLD = """
INSERT OR REPLACE INTO server_state (kind, key, owner, expires_at) VALUES (?, ?, ?, ?)
"""
_RELEASE = "DELETE FROM server_state WHERE kind = ? AND key = ? AND owner = ?"
_HOLDERS = "SELECT owner FROM server_state WHERE kind = ? AND key = ? AND owner NOT IN ('', ?)"
_HELD = """
SELECT key, owner FROM server_state
WHERE kind = ? AND substr(key, 1, length(?)) = ? AND owner NOT IN ('', ?) AND expires_at > ?
"""


class SqliteServerState:
    """Values and holds, in one table."""

    def __init__(
        self,
        access: TableAccess,
        owners: Owners,
        heartbeat: Heartbeat,
        now_ms: Callable[[], int],
    ) -> None:
        self._access = access
        self._owners = owners
        self._heartbeat = heartbeat
        self._now_ms = now_ms

    async def add(self, kind: str, key: str, value: str, seconds: float) -> bool:
        """Store a value for so long; returns whether it is the one that is stored now."""
        now, until = self._now_ms(), self._now_ms() + round(seconds * 1000)

        def insert() -> bool:
            writing = self._access.writing
            writing.execute(_SWEEP, (now,))
            changed = writing.execute(_ADD, (kind, key, value, until)).rowcount
            writing.execute("COMMIT")
            return changed > 0

        return await self._access.in_transaction(insert)

    async def find(self, kind: str, key: str) -> str | None:
        """The value, unless it has expired."""
        with self._access.reads():
            values = (kind, key, self._now_ms())
            row = self._access.reading.execute(_FIND, values).fetchone()
        return None if row is None else row[0]

    async def take(self, kind: str, key: str) -> str | None:
        """Remove a value and return it, unless it has expired; of several callers, one gets it."""
        now = self._now_ms()

        def remove() -> str | None:
            row = self._access.writing.execute(_FIND, (kind, key, now)).fetchone()
            self._access.writing.execute(_TAKE, (kind, key))
            self._access.writing.execute("COMMIT")
            return None if row is None else row[0]

        # Most wrong codes need no write.
        return (
            None
            if await self.find(kind, key) is None
            else await self._access.in_transaction(remove)
        )

    async def values(self, kind: str) -> list[str]:
        """Every value of a kind that has not expired, in no particular order."""
        with self._access.reads():
            return [row[0] for row in self._access.reading.execute(_ALL, (kind, self._now_ms()))]

    async def clear(self, kind: str) -> None:
        """Remove every value of a kind."""
        await self._execute(_CLEAR, kind)

    async def hold(self, kind: str, key: str) -> None:
        """Show other handles that this one holds a key, until it releases it or dies."""
        self._heartbeat.start()
        until = self._now_ms() + round(HELD_FOR * 1000)
        await self._execute(_HOLD, kind, key, self._owners.owner, until)

    async def release(self, kind: str, key: str) -> None:
        """Hold a key no longer."""
        await self._execute(_RELEASE, kind, key, self._owners.owner)

    async def held_elsewhere(self, kind: str, keys: Collection[str]) -> set[str]:
        """Those of the keys that another living handle holds."""
        return {key for key in keys if any(map(self._owners.alive, self._holders(kind, key)))}

    async def adopt(self, kind: str, start: str) -> set[str]:
        """Hold the keys with this start that dead handles held; one of several callers gets it."""
        owner, now = self._owners.owner, self._now_ms()
        asked = (kind, start, start, owner, now)
        with self._access.reads():
            held = self._access.reading.execute(_HELD, asked).fetchall()
        dead = {each for each in {row[1] for row in held} if not self._owners.alive(each)}
        if not dead:
            return set()
        self._heartbeat.start()
        until = now + round(HELD_FOR * 1000)

        def move() -> set[str]:
            writing = self._access.writing
            left = [row for row in writing.execute(_HELD, asked).fetchall() if row[1] in dead]
            writing.executemany(_RELEASE, [(kind, *row) for row in left])
            writing.executemany(_HOLD, [(kind, key, owner, until) for key, _ in left])
            writing.execute("COMMIT")
            return {key for key, _ in left}

        return await self._access.in_transaction(move)

    def _holders(self, kind: str, key: str) -> list[str]:
        with self._access.reads():
            values = (kind, key, self._owners.owner)
            return [row[0] for row in self._access.reading.execute(_HOLDERS, values)]

    async def _execute(self, sql: str, *values: str | int) -> None:
        def run() -> None:
            self._access.writing.execute(sql, values)
            self._access.writing.execute("COMMIT")

        await self._access.in_transaction(run)
