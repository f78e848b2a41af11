"""Makes a handle's connections, the first one after checking the database."""

import asyncio
from collections.abc import Callable

from callboard.clock import Clock
from callboard.log.postgres.connections import Link, PostgresAddress, connect
from callboard.log.postgres.setup import set_up


class Connector:
    """Connects one handle, in one event loop.

    opened: called with the last sequence, once the database was checked.
    """

    def __init__(
        self, address: PostgresAddress, clock: Clock, opened: Callable[[int], None]
    ) -> None:
        self.address = address
        self.is_open = False
        self.is_cut_off = False
        """Whether others may take our leases by now, because we couldn't beat for so long."""
        self._clock = clock
        self._opened = opened
        self._opening: asyncio.Future[None] | None = None

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
        return await connect(self.address, purpose)


def _forget_error(opening: asyncio.Future[None]) -> None:
    """Those who wait get the error; if no one waits any more, it doesn't matter."""
    if not opening.cancelled():
        opening.exception()
