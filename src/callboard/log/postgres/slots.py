"""The tables of limits and their slots; functions in the migration keep them in order."""

from collections.abc import Callable, Collection, Sequence
from typing import Final, Protocol

from psycopg.rows import TupleRow

from callboard.events.limits import AgentLimit, AgentSlot
from callboard.log.postgres.connections import Link, ReadPool
from callboard.log.postgres.liveness import Liveness
from callboard.log.postgres.notices import CommitNotices
from callboard.log.slots import LISTED, OwnRows, SlotCount, SlotRow, described

_CHANGE: Final = """
SELECT granted, counted FROM change_slots(
    %s, %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s
)
"""
_OWN: Final = """
SELECT coalesce(array_agg(id) FILTER (WHERE taken_at IS NOT NULL), '{}'), count(*)
FROM slots WHERE owner = %s
"""
_OWNERS: Final = """
SELECT owner, EXISTS (SELECT FROM owners WHERE id = slots.owner)
FROM slots WHERE %(names)s::text[] IS NULL OR name = ANY (%(names)s) GROUP BY owner
"""
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

    async def remove_dead(self, names: Collection[str], at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any."""
        dead = await self._dead(list(names))
        if dead:
            await self._all("SELECT remove_slots_of(%s, %s)", (dead, at))
            self._connected().notices.announce()
        return bool(dead)

    async def _dead(self, names: list[str] | None) -> list[str]:
        """The owners of slots that have left, died or frozen."""
        liveness = self._connected().liveness
        return [
            owner
            for owner, is_known in await self._all(_OWNERS, {"names": names})
            if owner != self._owner and not (is_known and liveness.alive(owner))
        ]

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        numbers = dict(await self._all(_NUMBERS))
        counts = [SlotCount(*row) for row in await self._all(_COUNTS)]
        rows = await self._all(_SLOTS, {"session": session, "most": LISTED})
        slots = [
            (name, AgentSlot(session, run, waiting, since, owner))
            for name, session, run, waiting, since, owner in rows
        ]
        return described(numbers, counts, slots, await self._dead(None))

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
