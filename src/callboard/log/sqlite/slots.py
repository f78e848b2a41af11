"""The tables of limits and their slots."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.owners import Owners
from callboard.log.slots import LISTED, OwnRows, SlotCount, SlotRow, described
from callboard.log.sqlite.table_access import TableAccess

_ENTER: Final = """
INSERT OR IGNORE INTO slots (id, name, session, run, since, taken_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# Without a number, everyone is granted one.
_GRANT: Final = """
UPDATE slots SET taken_at = :at WHERE no IN (
    SELECT no FROM slots WHERE name = :name AND taken_at IS NULL ORDER BY no
    LIMIT coalesce((
        SELECT max(0, number - (
            SELECT count(*) FROM slots WHERE name = :name AND taken_at IS NOT NULL
        ))
        FROM limits WHERE name = :name
    ), -1)
)
"""
_OWN: Final = "SELECT id, taken_at IS NOT NULL FROM slots WHERE owner = ?"
_SET: Final = "INSERT OR REPLACE INTO limits (name, number) VALUES (?, ?)"
_COUNTS: Final = """
SELECT name, owner, taken_at IS NULL, count(*) FROM slots GROUP BY name, owner, taken_at IS NULL
"""
_SLOTS: Final = """
SELECT name, session, run, taken_at IS NULL, coalesce(taken_at, since), owner FROM slots
WHERE :session IS NULL OR session = :session
ORDER BY name, taken_at IS NULL, no LIMIT :most
"""


class SqliteSlots:
    """The slots of one file. Other processes are notified of every transaction."""

    def __init__(self, access: TableAccess, owners: Owners) -> None:
        self._reading = access.reading
        self._writing = access.writing
        self._reads = access.reads
        self._in_transaction = access.in_transaction
        self._owners = owners

    async def change(self, leave: Sequence[SlotRow], enter: Sequence[SlotRow], at: int) -> OwnRows:
        """Remove rows, and add others that aren't there yet, at the end of their queues."""

        def work() -> OwnRows:
            write, owner = self._writing, self._owners.owner
            write.executemany("DELETE FROM slots WHERE id = ?", [(row.id,) for row in leave])
            write.executemany(_ENTER, [(*row, owner) for row in enter])
            self._grant({row.name for row in (*leave, *enter)}, at)
            own = _own(write, owner)
            write.execute("COMMIT")
            return own

        return await self._in_transaction(work)

    def _grant(self, names: Iterable[str], at: int) -> None:
        self._writing.executemany(_GRANT, [{"name": name, "at": at} for name in names])

    async def own(self) -> OwnRows:
        """The rows of this owner."""
        with self._reads():
            return _own(self._reading, self._owners.owner)

    async def remove_dead(self, names: Collection[str], at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        with self._reads():
            marks = ", ".join("?" * len(names))
            sql = f"SELECT DISTINCT owner FROM slots WHERE name IN ({marks})"
            dead = self._dead(owner for (owner,) in self._reading.execute(sql, tuple(names)))
        if not dead:
            return False

        def work() -> None:
            write = self._writing
            for owner in dead:
                write.execute("DELETE FROM slots WHERE owner = ?", (owner,))
            # Also in other queues, where they may have kept someone waiting.
            touched = write.execute("SELECT DISTINCT name FROM slots WHERE taken_at IS NULL")
            self._grant([name for (name,) in touched.fetchall()], at)
            write.execute("COMMIT")

        await self._in_transaction(work)
        return True

    def _dead(self, owners: Iterable[str]) -> list[str]:
        return [owner for owner in owners if not self._owners.alive(owner)]

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        with self._reads():
            read = self._reading
            numbers = dict(read.execute("SELECT name, number FROM limits").fetchall())
            counts = [SlotCount(*row) for row in read.execute(_COUNTS).fetchall()]
            given = {"session": session, "most": LISTED}
            rows = read.execute(_SLOTS, given).fetchall()
        slots = [
            (name, AgentSlot(session, run, bool(waiting), since, owner))
            for name, session, run, waiting, since, owner in rows
        ]
        dead = self._dead({count.owner for count in counts})
        return described(numbers, counts, slots, dead)

    async def set(self, name: str, number: int | None, at: int) -> None:
        """Change a limit's number; None removes it."""

        def work() -> None:
            if number is None:
                self._writing.execute("DELETE FROM limits WHERE name = ?", (name,))
            else:
                self._writing.execute(_SET, (name, number))
            self._grant([name], at)
            self._writing.execute("COMMIT")

        await self._in_transaction(work)


def _own(database: sqlite3.Connection, owner: str) -> OwnRows:
    rows = database.execute(_OWN, (owner,)).fetchall()
    return OwnRows(frozenset(id for id, is_taken in rows if is_taken), len(rows))
