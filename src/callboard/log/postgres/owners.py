"""The table of owners: who has the database open, and what they can drive."""

from collections.abc import Callable, Sequence

from psycopg.rows import TupleRow

from callboard.log.postgres.connections import Link, ReadPool
from callboard.log.postgres.liveness import Handle, Liveness
from callboard.log.registry import Description, OwnerInfo

_DESCRIBE = "UPDATE owners SET workflows = %s, engine_worker = %s WHERE id = %s"
_LIST = """
SELECT id, host, pid, (extract(epoch FROM started_at) * 1000)::bigint, workflows, engine_worker
FROM owners ORDER BY started_at, id
"""


class PostgresOwners:
    """The handles that are open in all processes, on all machines."""

    def __init__(
        self, handle: Handle, pool: Callable[[], ReadPool], liveness: Callable[[], Liveness]
    ) -> None:
        self._handle = handle
        self._pool = pool
        self._liveness = liveness

    def alive(self, owner: str) -> bool:
        """Whether an owner is alive, as far as the last beat showed."""
        return self._liveness().alive(owner)

    def elected(self) -> bool:
        """Whether this handle holds the advisory lock that only one can hold."""
        return self._liveness().elected()

    async def has_died(self, owner: str) -> bool:
        """Whether an owner died or froze: its row and its lock say so now."""
        return await self._liveness().has_died(owner)

    async def describe(self, described: Description) -> None:
        """Let others know what this handle can drive; repeated if its row is made again."""
        self._handle.described = described
        await self._liveness().ready()
        told = (described.to_json(), described.engine_worker, self._handle.owner)
        await self._pool().run(lambda link: link.execute(_DESCRIBE, told))

    async def list(self) -> Sequence[OwnerInfo]:
        """Every open handle, the oldest first."""
        return [self._read(row) for row in await self._pool().run(_listed)]

    def _read(self, row: TupleRow) -> OwnerInfo:
        owner, host, pid, started_at, workflows, engine_worker = row
        described = Description.from_json(workflows, engine_worker)
        return OwnerInfo(owner, host, pid, started_at, self.alive(owner), described)


async def _listed(link: Link) -> list[TupleRow]:
    return await (await link.execute(_LIST)).fetchall()
