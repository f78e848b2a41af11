"""The tables of limits and their slots; functions in the migration keep them in order."""

from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from psycopg.rows import TupleRow

from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.postgres.connections import Link, ReadPool
from callboard.log.postgres.liveness import Liveness
from callboard.log.postgres.notices import CommitNotices
from callboard.log.slots import LISTED, NO_ONE, OwnRows, SlotCount, SlotRow, described

_CHANGE: Final = """
SELECT granted, counted FROM change_slots(
    %s, %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s
)
"""
_OWN: Final = """
SELECT coalesce(array_agg(id) FILTER (WHERE taken_at IS NOT NULL), '{}'), count(*)
FROM slots WHERE owner = %s
"""
_KEEP: Final = """
SELECT keep_slots(%s, %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s)
"""
_DUE: Final = """
SELECT session, taken_at FROM slots WHERE owner = '' AND (late OR taken_at IS NOT NULL)
ORDER BY late, taken_at LIMIT %(most)s
"""
_IS_DUE: Final = """
SELECT session, taken_at FROM slots
WHERE owner = '' AND session = %(session)s AND (late OR taken_at IS NOT NULL) LIMIT %(most)s
"""
_OWNERS: Final = """
SELECT owner, EXISTS (SELECT FROM owners WHERE id = found.owner)
FROM (SELECT DISTINCT owner FROM slots WHERE {}) AS found
"""
_IN_QUEUES: Final = _OWNERS.format("name = ANY (%(names)s::text[])")
_WITH_SLOTS: Final = _OWNERS.format("taken_at IS NOT NULL")
_ALL_OWNERS: Final = _OWNERS.format("true")
_COUNTS: Final = """
SELECT name, owner, taken_at IS NULL, count(*) FROM slots GROUP BY name, owner, taken_at IS NULL
"""
_SLOTS: Final = """
SELECT name, session, run, taken_at IS NULL, coalesce(taken_at, since), owner FROM slots
WHERE %(session)s::text IS NULL OR session = %(session)s
ORDER BY name, taken_at IS NULL, no LIMIT %(most)s
"""
_NUMBERS: Final = "SELECT name, number FROM limits"


class _Connected(Protocol):
    @property
    def pool(self) -> ReadPool: ...
    @property
    def liveness(self) -> Liveness: ...
    @property
    def notices(self) -> CommitNotices: ...


class PostgresSlots:
    """The slots of one database. Everything can be repeated, in case a connection is lost."""

    def __init__(self, owner: str, connected: Callable[[], _Connected]) -> None:
        self._owner = owner
        self._connected = connected

    async def change(self, leave: Sequence[SlotRow], enter: Sequence[SlotRow], at: int) -> OwnRows:
        """Remove rows, and add others that aren't there yet, at the end of their queues."""
        # Others would remove the rows of an owner that they can't see.
        await self._connected().liveness.ready()
        columns = [list(column) for column in zip(*enter, strict=True)] or [[] for _ in range(6)]
        leaving = [row.id for row in leave]
        [(granted, count)] = await self._all(_CHANGE, (self._owner, leaving, *columns, at))
        if leave:
            self._connected().notices.announce()
        return OwnRows(frozenset(granted), count)

    async def own(self) -> OwnRows:
        """The rows of this owner."""
        [(granted, count)] = await self._all(_OWN, (self._owner,))
        return OwnRows(frozenset(granted), count)

    async def remove_dead(self, names: Collection[str] | None, at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        which = _WITH_SLOTS if names is None else _IN_QUEUES
        dead = await self._dead(which, {"names": list(names or ())})
        if dead:
            await self._all("SELECT remove_slots_of(%s, %s)", (dead, at))
            self._connected().notices.announce()
        return bool(dead)

    async def _dead(self, sql: str, values: dict[str, object]) -> list[str]:
        """The owners of slots that have left, died or frozen."""
        liveness = self._connected().liveness
        return [
            owner
            for owner, is_known in await self._all(sql, values)
            if owner not in (self._owner, NO_ONE) and not (is_known and liveness.alive(owner))
        ]

    async def keep(self, rows: Sequence[SlotRow], at: int) -> None:
        """Let these rows of this owner belong to no one; add those that are missing."""
        columns = [list(column) for column in zip(*rows, strict=True)][:5]
        await self._all(_KEEP, (self._owner, *columns, at))

    async def due(self, session: str | None, most: int) -> Sequence[tuple[str, int | None]]:
        """Sessions whose rows are granted, and since when; then those whose rows are late."""
        sql = _DUE if session is None else _IS_DUE
        return [
            (one, granted_at)
            for one, granted_at in await self._all(sql, {"session": session, "most": most})
        ]

    async def pass_over(self, granted_until: int, at: int) -> None:
        """Take the slots from rows that were granted at this time or before: they are late."""
        await self._all("SELECT pass_over_slots(%s, %s)", (granted_until, at))

    async def leave(self, session: str, at: int) -> bool:
        """Remove the rows of a session; returns whether there were any."""
        [(had_any,)] = await self._all("SELECT leave_slots(%s, %s)", (session, at))
        if had_any:
            self._connected().notices.announce()
        return bool(had_any)

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        numbers = dict(await self._all(_NUMBERS))
        counts = [SlotCount(*row) for row in await self._all(_COUNTS)]
        rows = await self._all(_SLOTS, {"session": session, "most": LISTED})
        slots = [
            (name, AgentSlot(session, run, waiting, since, owner))
            for name, session, run, waiting, since, owner in rows
        ]
        return described(numbers, counts, slots, await self._dead(_ALL_OWNERS, {}))

    async def set(self, name: str, number: int | None, at: int) -> None:
        """Change a limit's number; None removes it."""
        await self._all("SELECT set_limit(%s, %s, %s)", (name, number, at))
        self._connected().notices.announce()

    async def _all(
        self, sql: str, values: Sequence[object] | dict[str, object] = ()
    ) -> Sequence[TupleRow]:
        async def fetch(link: Link) -> Sequence[TupleRow]:
            return await (await link.execute(sql.encode(), values)).fetchall()

        return await self._connected().pool.run(fetch)
