"""The tables of limits and their slots."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.owners import Owners
from callboard.log.slots import LISTED, NO_ONE, OwnRows, SlotCount, SlotRow, described
from callboard.log.sqlite.table_access import TableAccess

_ENTER: Final = """
INSERT OR IGNORE INTO slots (id, name, session, run, since, taken_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# Without a number, everyone is granted one.
_GRANT: Final = """
UPDATE slots SET taken_at = :at WHERE no IN (
    SELECT no FROM slots WHERE name = :name AND taken_at IS NULL AND NOT late ORDER BY no
    LIMIT coalesce((
        SELECT max(0, number - (
            SELECT count(*) FROM slots WHERE name = :name AND taken_at IS NOT NULL
        ))
        FROM limits WHERE name = :name
    ), -1)
)
"""
_TAKE_BACK: Final = """
UPDATE OR IGNORE slots SET id = :id, owner = :owner, late = 0 WHERE no = (
    SELECT min(no) FROM slots
    WHERE owner = '' AND session = :session AND name = :name AND run = :run
)
"""
_KEPT: Final = "SELECT DISTINCT name FROM slots WHERE owner = '' AND session = ?"
_KEEP: Final = """
INSERT INTO slots (id, name, session, run, since, owner) VALUES (?, ?, ?, ?, ?, '')
ON CONFLICT (id) DO UPDATE SET owner = '' WHERE owner = ?
"""
_LEAVE: Final = "DELETE FROM slots WHERE owner = '' AND session = ?"
_DUE: Final = """
SELECT session, taken_at FROM slots
WHERE owner = '' AND (late OR taken_at IS NOT NULL) AND (:session IS NULL OR session = :session)
ORDER BY late, taken_at LIMIT :most
"""
_EXPIRED: Final = "owner = '' AND (late OR taken_at IS NOT NULL) AND taken_at <= ?"
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
            leaving = [(row.id, owner) for row in leave]
            write.executemany("DELETE FROM slots WHERE id = ? AND owner = ?", leaving)
            others = self._take_back(enter, owner)
            write.executemany(_ENTER, [(*row, owner) for row in enter])
            self._grant({row.name for row in (*leave, *enter)} | others, at)
            own = _own(write, owner)
            write.execute("COMMIT")
            return own

        return await self._in_transaction(work)

    def _take_back(self, enter: Sequence[SlotRow], owner: str) -> set[str]:
        """Give kept rows to who comes back for them; returns the queues of those left over."""
        write, left = self._writing, set[str]()
        for row in enter:
            about = {"session": row.session, "name": row.name, "run": row.run}
            write.execute(_TAKE_BACK, {"id": row.id, "owner": owner, **about})
        for session in {row.session for row in enter}:
            left |= self._leave(session)
        return left

    def _leave(self, session: str) -> set[str]:
        names = {name for (name,) in self._writing.execute(_KEPT, (session,)).fetchall()}
        if names:
            self._writing.execute(_LEAVE, (session,))
        return names

    def _grant(self, names: Iterable[str], at: int) -> None:
        self._writing.executemany(_GRANT, [{"name": name, "at": at} for name in names])

    async def own(self) -> OwnRows:
        """The rows of this owner."""
        with self._reads():
            return _own(self._reading, self._owners.owner)

    async def remove_dead(self, names: Collection[str] | None, at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        with self._reads():
            marks = ", ".join("?" * len(names or ()))
            which = "taken_at IS NOT NULL" if names is None else f"name IN ({marks})"
            sql = f"SELECT DISTINCT owner FROM slots WHERE {which}"
            dead = self._dead(owner for (owner,) in self._reading.execute(sql, tuple(names or ())))
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
        return [owner for owner in owners if owner != NO_ONE and not self._owners.alive(owner)]

    async def keep(self, rows: Sequence[SlotRow], at: int) -> None:
        """Let these rows of this owner belong to no one; add those that are missing."""

        def work() -> None:
            owner = self._owners.owner
            self._writing.executemany(_KEEP, [(*row[:5], owner) for row in rows])
            self._grant({row.name for row in rows}, at)
            self._writing.execute("COMMIT")

        await self._in_transaction(work)

    async def due(self, session: str | None, most: int) -> Sequence[tuple[str, int | None]]:
        """Sessions whose rows are granted, and since when; then those whose rows are late."""
        with self._reads():
            return self._reading.execute(_DUE, {"session": session, "most": most}).fetchall()

    async def pass_over(self, granted_until: int, at: int) -> None:
        """Take the slots from rows that were granted at this time or before: they are late."""

        def work() -> None:
            write, until = self._writing, (granted_until,)
            found = write.execute(f"SELECT DISTINCT name FROM slots WHERE {_EXPIRED}", until)
            names = [name for (name,) in found.fetchall()]
            write.execute(f"UPDATE slots SET taken_at = NULL, late = 1 WHERE {_EXPIRED}", until)
            self._grant(names, at)
            write.execute("COMMIT")

        await self._in_transaction(work)

    async def leave(self, session: str, at: int) -> bool:
        """Remove the rows of a session; returns whether there were any."""

        def work() -> None:
            self._grant(self._leave(session), at)
            self._writing.execute("COMMIT")

        with self._reads():
            kept = self._reading.execute(_KEPT, (session,)).fetchone()
        if kept is not None:
            await self._in_transaction(work)
        return kept is not None

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
