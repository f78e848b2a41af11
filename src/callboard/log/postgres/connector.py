"""Makes a handle's connections: checks the database before the first, and each for a failover."""

import asyncio
from collections.abc import Callable

import psycopg

from callboard.clock import Clock
from callboard.log.postgres.connections import Link, PostgresAddress, connect
from callboard.log.postgres.setup import set_up

# Not `pg_control_checkpoint()`: it shows a new timeline only after a checkpoint, which may take
# minutes.
_TIMELINE = "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"
_INCARNATION = "SELECT incarnation FROM log"
# Only once, although every handle finds out by itself.
_RAISE = "UPDATE log SET incarnation = incarnation + 1 WHERE incarnation = %s"


class Connector:
    """Connects one handle, in one event loop.

    opened: called with the last sequence, once the database was checked.
    replaced: called when another server has taken over, which may lack the newest events.
    """

    def __init__(
        self,
        address: PostgresAddress,
        clock: Clock,
        opened: Callable[[int], None],
        replaced: Callable[[], None],
    ) -> None:
        self.address = address
        self.is_open = False
        self.is_cut_off = False
        """Whether others may take our leases by now, because we couldn't beat for so long."""
        self.incarnation = 0
        """Which history of the log we know; 0 before the first connection."""
        self._clock = clock
        self._opened = opened
        self._replaced = replaced
        self._opening: asyncio.Future[None] | None = None
        self._timeline: str | None = None
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """Check the database and its schema, once; a thread does it, because it may take long."""
        if self.is_open:
            return
        if self._opening is None or self._opening.done():
            self._opening = asyncio.ensure_future(self._open())
            self._opening.add_done_callback(_forget_error)
        # Everyone waits for the same attempt, and if it fails, the next call makes another one.
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        last = await asyncio.to_thread(set_up, self.address, self._clock)
        self.is_open = True
        self._opened(last)

    async def connect(self, purpose: str = "callboard") -> Link:
        """Open a connection."""
        await self.open()
        link = await connect(self.address, purpose)
        try:
            async with self._turn:
                await self._compare(link)
        except BaseException:
            link.pgconn.finish()
            raise
        return link

    async def _compare(self, link: Link) -> None:
        """Compare the server with the one that we were connected to before.

        Its timeline is another one after every failover, even if nothing was lost.
        """
        before, now = self._timeline, await _timeline(link)
        if before is not None and now not in (None, before):
            await link.execute(_RAISE, (self.incarnation,))
        row = await (await link.execute(_INCARNATION)).fetchone()
        assert row is not None
        self._timeline = now or before
        self.note(row[0])

    def note(self, incarnation: int) -> None:
        """Note the incarnation of the log: another handle may have noticed a failover first."""
        before, self.incarnation = self.incarnation, incarnation
        if before not in (0, incarnation):
            self._replaced()


def _forget_error(opening: asyncio.Future[None]) -> None:
    """Those who wait get the error; if no one waits any more, it doesn't matter."""
    if not opening.cancelled():
        opening.exception()


async def _timeline(link: Link) -> str | None:
    """The number of the server's timeline; None if it isn't told."""
    try:
        row = await (await link.execute(_TIMELINE)).fetchone()
    except (psycopg.NotSupportedError, psycopg.ProgrammingError):
        # Some providers have no write-ahead log to look at.
        return None
    except psycopg.errors.ObjectNotInPrerequisiteState as error:
        # Without a code it counts as a lost connection, so another attempt is made.
        raise psycopg.OperationalError("the server is a standby; is it promoted?") from error
    return row[0] if row else None
