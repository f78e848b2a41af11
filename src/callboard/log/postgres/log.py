"""The log in a PostgreSQL database, which processes on several machines may share.

The first call that needs a connection checks the database and its schema. Connections belong to the
event loop of that call: one that writes, one that beats and hears of commits, and a few that read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

from callboard.clock import Clock, SystemClock
from callboard.errors import SessionOwned, StoreError
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Projection, Query, Row
from callboard.log.admission import Claimant
from callboard.log.appending import AppendRequest, encoded
from callboard.log.listeners import Listeners, Tailed
from callboard.log.postgres.append_queue import AppendQueue
from callboard.log.postgres.commit import GroupCommit
from callboard.log.postgres.connections import Link, PostgresAddress, ReadPool
from callboard.log.postgres.connector import Connector
from callboard.log.postgres.deletion import hide, rebuild, trim
from callboard.log.postgres.liveness import Handle, Liveness, new_handle
from callboard.log.postgres.notices import CommitNotices
from callboard.log.postgres.owners import PostgresOwners
from callboard.log.postgres.plan import Rules
from callboard.log.postgres.reader import PostgresReader
from callboard.log.postgres.server_state import PostgresServerState
from callboard.log.postgres.slots import PostgresSlots
from callboard.log.postgres.tokens import PostgresTokens
from callboard.log.protocol import (
    ANYHOW,
    Appended,
    Lease,
    Limit,
    Notify,
    NotifyAppend,
    Writing,
    no_views,
)
from callboard.log.slots import SlotQueue

Result = TypeVar("Result")

_LONGEST_READ = 5.0
"""Seconds that closing waits for those who read."""

_RELEASE = "UPDATE streams SET owner = NULL WHERE id = ANY (%s) AND owner = %s"


class _Connected:
    """Everything that belongs to one event loop."""

    def __init__(self, log: "PostgresLog", project: Projection) -> None:
        self.loop = asyncio.get_running_loop()
        self.project = project
        self.listeners = log.listeners
        self.connector = Connector(log.address, log.handle.clock, self._opened, self._replaced)
        self.pool = ReadPool(self.connector, log.handle.clock)
        self.reader = PostgresReader(self.pool)
        self.notices = CommitNotices(
            log.owner,
            self.pool,
            self.reader,
            log.listeners,
            lambda grown: self.committer.learn(grown),
        )
        self.liveness = Liveness(
            log.handle, self.connector, self.pool, self.notices.heard, self.notices.caught_up
        )
        rules = Rules(Claimant(log.owner, self.liveness.alive), project, log.handle.clock)
        self.committer = GroupCommit(self.connector, rules)
        self.queue = AppendQueue(self.committer.commit, self._committed)
        self._reads = 0
        self._idle = asyncio.Event()

    def _opened(self, sequence: int) -> None:
        self.notices.start(sequence)

    def _replaced(self) -> None:
        """Drop what is known about a history that may be lost, and have everyone look again."""
        self.committer.forget_all()
        # If the former server still runs, it must not be read from any more.
        self.pool.close_idle()
        self.notices.replaced()

    async def read(self, work: Callable[[PostgresReader], Awaitable[Result]]) -> Result:
        """Read something; closing waits for it."""
        self._reads += 1
        try:
            return await work(self.reader)
        finally:
            self._reads -= 1
            if not self._reads:
                self._idle.set()

    def _committed(self, heads: Mapping[str, int]) -> None:
        self.listeners.wake(heads)
        if self.committer.wrote is not None:
            self.notices.wrote(*self.committer.wrote)
        else:
            self.notices.announce()

    async def release(self, owner: str) -> None:
        """Give every lease back."""
        held = list(self.committer.held)
        if held:
            await self.committer.run(lambda link: link.execute(_RELEASE, (held, owner)))

    async def close(self) -> None:
        """Close every connection, and leave the owners."""
        self._idle.clear()
        if self._reads:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST_READ):
                    await self._idle.wait()
        await self.notices.stop()
        await self.liveness.stop()
        self.crash()

    def crash(self) -> None:
        """Close every connection at once."""
        self.notices.crash()
        self.queue.abandon()
        self.liveness.crash()
        self.committer.close()
        self.pool.close()


class PostgresLog(Tailed):
    """Streams in a database, with every guarantee of `EventLog`. Created by `PostgresLog.open`."""

    def __init__(self, address: PostgresAddress, handle: Handle, project: Projection) -> None:
        self.address = address
        self.handle = handle
        self.owner = handle.owner
        self.path: Path | None = None
        self.closed = False
        self.listeners = Listeners()
        self._project = project
        self._connected: _Connected | None = None
        self.tokens = PostgresTokens(self._pool_now)
        self.server_state = PostgresServerState(
            handle.owner, self._pool_now, lambda: self._live().liveness
        )
        self.owners = PostgresOwners(
            handle, lambda: self._live().pool, lambda: self._live().liveness
        )
        self.slots = SlotQueue(PostgresSlots(self.owner, self._live), handle.clock, self.on_change)

    @classmethod
    def open(
        cls,
        url: str,
        project: Projection = no_views,
        clock: Clock | None = None,
        frozen_after: float = 15.0,
        lock_timeout: float = 30.0,
    ) -> Self:
        """Open the database at `url`; the first use creates or migrates its tables if necessary.

        Args:
            url: `postgresql://user@host:port/database`, as libpq reads it.
            project: turns events into rows of the views.
            clock: the log's source of time; by default the machine's, corrected by the server's.
            frozen_after: seconds without a heartbeat after which an owner loses its leases.
            lock_timeout: seconds to wait for locks, or for a server that has just gone away.
        """
        address = PostgresAddress.parse(url, lock_timeout)
        return cls(address, new_handle(clock or SystemClock(), frozen_after), project)

    @property
    def is_cut_off(self) -> bool:
        """Whether others may take our leases by now, because we couldn't reach the server."""
        return self._connected is not None and self._connected.connector.is_cut_off

    @property
    def incarnation(self) -> int:
        """Changes when another server took over, which may lack the newest events."""
        return 0 if self._connected is None else self._connected.connector.incarnation

    def _live(self) -> _Connected:
        """The connections of the running loop; those of one that has ended are dropped."""
        if self.closed:
            raise StoreError("This log is closed; open it again.", path=self.address.name)
        known = self._connected
        if known is None or known.loop is not asyncio.get_running_loop():
            if known is not None:
                known.crash()
            known = self._connected = _Connected(self, self._project)
        return known

    def _pool_now(self) -> ReadPool:
        """The pool, for requests that don't wait long for a server that is away."""
        if (away := self.outage()) is not None:
            raise away
        return self._live().pool

    def outage(self) -> StoreError | None:
        """Why the server can't be reached at the moment; None if it can, as far as is known."""
        live = self._connected
        return None if live is None or self.closed else live.liveness.outage()

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none; returns when the server has them on disk."""
        live = self._live()
        known = live.connector.incarnation
        # A copy, because the caller may reuse its list before this is written.
        copied = tuple(events)
        payloads, is_large = await encoded(copied)
        takes_lease = writing.claim or writing.settle or writing.release
        if takes_lease or live.liveness.is_awaited:
            await live.liveness.ready()

        def append() -> Awaitable[Appended]:
            future = self._live().loop.create_future()
            request = AppendRequest(stream, copied, payloads, writing, future, is_large, known)
            self._live().queue.append(request)
            return future

        return await self._unless_owned(append)

    async def _unless_owned(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do it, a second time if the owner that prevented it turns out to be dead."""
        try:
            return await work()
        except SessionOwned as refused:
            if not await self._live().liveness.has_died(str(refused.context["owner"])):
                raise
        return await work()

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: Limit = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Events with after < position <= upto, without the names in `skip`."""
        return await self._live().read(lambda reader: reader.read(stream, after, upto, limit, skip))

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        return await self._live().read(lambda reader: reader.head(stream))

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, in the stream or its prefix."""
        return await self._live().read(lambda reader: reader.checkpoint(stream, upto))

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        return await self._live().read(lambda reader: reader.read_all(after, upto, limit))

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 if the log is empty."""
        return await self._live().read(lambda reader: reader.last_sequence())

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        return await self._live().read(lambda reader: reader.rows(query))

    async def session_counts(self) -> Mapping[str, int]:
        """How many sessions there are of each status."""
        return await self._live().read(lambda reader: reader.session_counts())

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None if it doesn't exist."""
        live = self._live()
        found = await live.read(lambda reader: reader.lease(stream))
        if found is None:
            return None
        owner, epoch, settled = found
        alive = owner is not None and not await live.liveness.has_died(owner)
        return Lease(owner, epoch, settled, alive)

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        return await self._live().read(lambda reader: reader.unsettled(limit))

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit; returns a function that stops it."""
        self._live()
        return self.listeners.add(stream, notify)

    def on_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with streams that others wrote to and that someone has to drive."""
        self._live()
        return self.listeners.add_of_work(notify)

    async def rebuild(self) -> int:
        """Rebuild the views from the events; returns the number of events.

        In one transaction: readers see the old views until it is done, and appends wait.
        """

        async def work(link: Link) -> int:
            async with link.transaction():
                return await rebuild(link, self._project)

        live = self._live()
        return await live.queue.run(lambda: live.pool.run(work))

    async def delete(self, stream: str) -> None:
        """Hide a stream and drop its rows; its forks stay complete."""
        live = self._live()

        async def work(link: Link) -> None:
            await hide(link, stream, live.liveness.alive)

        await self._unless_owned(lambda: live.queue.run(lambda: live.committer.run(work)))
        live.committer.forget(stream)
        self.listeners.wake({stream: None})
        live.notices.announce()

    async def trim(self, limit: int = 1000) -> int:
        """Remove at most this many events of deleted streams that no fork needs."""
        live = self._live()
        return await live.queue.run(lambda: live.committer.run(lambda link: trim(link, limit)))

    async def close(self) -> None:
        """Finish what was started, release the leases, end the tails, and disconnect."""
        live = self._connected
        if self.closed or live is None or live.loop is not asyncio.get_running_loop():
            self.crash()
            return
        await self.slots.close()
        self.closed = True
        await live.queue.drain()
        # If the server is away, close anyway: a dead owner owns nothing.
        with suppress(StoreError):
            await live.release(self.owner)
        self.listeners.wake_all()
        await live.close()

    def crash(self) -> None:
        """Stop as `kill -9` would: nothing is finished, and no lease is released. For tests."""
        self.closed = True
        self.slots.crash()
        if self._connected is not None:
            self._connected.crash()
        with suppress(RuntimeError):  # Without a loop, no one listens.
            self.listeners.wake_all()
