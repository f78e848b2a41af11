"""The log in one SQLite file, which several processes may share.

Next to `x.db` is the folder `x.db-live`, with the lock that lets one writer in at a time, and per
open handle a lock that shows whether it is alive and a socket for commit notifications.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from callboard.clock import Clock, SystemClock
from callboard.errors import StoreBusy, StoreError
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Projection, Query, Row
from callboard.log.admission import Claimant
from callboard.log.appending import AppendRequest, encoded
from callboard.log.commit_signal import Doorbell
from callboard.log.listeners import Tailed
from callboard.log.owners import Heartbeat, Owners
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
from callboard.log.sqlite.backup import (
    Progress,
    back_up,
    check_target,
    free_share,
    has_room,
    shrink,
)
from callboard.log.sqlite.checkpoint import Checkpoints
from callboard.log.sqlite.commit import Committer
from callboard.log.sqlite.deletion import hide, trim
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.file import connect
from callboard.log.sqlite.foreign_commits import News
from callboard.log.sqlite.migrate import rebuild
from callboard.log.sqlite.reader import Reader
from callboard.log.sqlite.server_state import SqliteServerState
from callboard.log.sqlite.session_counts import SessionCounts
from callboard.log.sqlite.setup import live_folder, set_up
from callboard.log.sqlite.slots import SqliteSlots
from callboard.log.sqlite.table_access import TableAccess
from callboard.log.sqlite.tokens import SqliteTokens
from callboard.log.sqlite.transaction import WriteTarget
from callboard.log.sqlite.writer import Writer
from callboard.log.write_lock import Turnstile

Result = TypeVar("Result")

_READER_PATIENCE = 5.0
"""Seconds. A reader waits only while another process opens or closes the file."""


class SqliteLog(Tailed):
    """Streams in a file, with every guarantee of `EventLog`. Created by `SqliteLog.open`."""

    is_cut_off: bool = False
    incarnation: int = 1

    def __init__(
        self, database: sqlite3.Connection, place: WriteTarget, owners: Owners, project: Projection
    ) -> None:
        self.owner = owners.owner
        self.path = place.path
        self.closed = False
        self._database = database
        self._project = project
        self._place = place
        self.owners = owners
        self._heartbeat = Heartbeat(owners)
        self._doorbell = Doorbell(owners, place.clock.now_ms)
        self._reading = self._connect()
        self._reader = Reader(self._reading, self._connect)
        self._session_counts = SessionCounts()
        self._counting = threading.Lock()
        self._news = News(self._reader, self._doorbell)
        self.listeners = self._news.listeners
        claimant = Claimant(self.owner, owners.alive)
        self._checkpoints = Checkpoints(
            lambda: connect(place.path), lambda: Turnstile(owners.folder)
        )
        self._committer = Committer(
            database,
            claimant,
            project,
            place.clock,
            self._checkpoints.wrote,
            place.identities.check,
        )
        self._writer = Writer(self._committer, place, self._committed)
        access = TableAccess(self._reading, database, self._reads, self._do)
        self.tokens = SqliteTokens(access)
        self.server_state = SqliteServerState(access, owners, self._heartbeat, place.clock.now_ms)
        as_owner = replace(access, in_transaction=self._do_as_owner)
        self.slots = SlotQueue(SqliteSlots(as_owner, owners), place.clock, self.on_change)

    @classmethod
    def open(
        cls,
        path: str | Path,
        project: Projection = no_views,
        clock: Clock | None = None,
        frozen_after: float = 15.0,
        lock_timeout: float = 30.0,
    ) -> Self:
        """Open the database at `path`; creates or migrates it if necessary.

        Args:
            path: the file; it and its folder are created private if they don't exist.
            project: turns events into rows of the views.
            clock: the log's source of time.
            frozen_after: seconds without a heartbeat after which an owner loses its leases.
            lock_timeout: seconds that a commit waits for other processes before StoreBusy.
        """
        # Whatever symlinks lead to it, all processes must meet next to the file itself.
        given = Path(path).absolute()
        file = given.resolve()
        clock = clock or SystemClock()
        database, place = set_up(file, given, clock, lock_timeout)
        owners = Owners(live_folder(file), clock.monotonic, frozen_after, started_at=clock.now_ms())
        return cls(database, place, owners, project)

    def _connect(self) -> sqlite3.Connection:
        database = connect(self.path, patience=_READER_PATIENCE)
        database.execute("PRAGMA query_only = ON")
        return database

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none; returns when they are on disk."""
        self._check_open()
        if writing.claim:
            self._heartbeat.start()
        # A copy, because the caller may reuse its list before this is written.
        copied = tuple(events)
        payloads, is_large = await encoded(copied)
        if is_large:
            self._check_open()
        future = self._writer.loop().create_future()
        self._writer.append(AppendRequest(stream, copied, payloads, writing, future, is_large))
        return await future

    def _committed(self, heads: Mapping[str, int]) -> None:
        self.listeners.wake(heads)
        self._doorbell.ring()

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: Limit = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Events with after < position <= upto, without the names in `skip`."""
        with self._reads():
            return await self._reader.read(stream, after, upto, limit, skip)

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        with self._reads():
            return self._reader.head(stream)

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, in the stream or its prefix."""
        with self._reads():
            return self._reader.ancestry.checkpoint(stream, upto)

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        with self._reads():
            return await self._reader.read_all(after, upto, limit)

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 if the log is empty."""
        with self._reads():
            return self._reader.last_sequence()

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        with self._reads():
            return await self._reader.rows(query)

    async def session_counts(self) -> Mapping[str, int]:
        """How many sessions there are of each status."""
        with self._reads():
            return await asyncio.to_thread(self._count_sessions)

    def _count_sessions(self) -> Mapping[str, int]:
        with self._counting, closing(self._connect()) as database:
            return self._session_counts.at(database)

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None if it doesn't exist."""
        with self._reads():
            found = self._reader.lease(stream)
        if found is None:
            return None
        owner, epoch, settled = found
        return Lease(owner, epoch, settled, owner is not None and self.owners.alive(owner))

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        with self._reads():
            return self._reader.unsettled(limit)

    def outage(self) -> StoreError | None:
        """None: a file that can't be used is noticed with each use."""
        return None

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit; returns a function that stops it."""
        with self._reads():
            return self.listeners.add(stream, notify)

    def on_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with streams that others wrote to and that someone has to drive."""
        with self._reads():
            return self.listeners.add_of_work(notify)

    async def rebuild(self) -> int:
        """Rebuild the views from the events; returns the number of events.

        In one transaction: readers see the old views until it is done, and appends wait.
        """
        self._session_counts.forget()
        return await self._do(lambda: rebuild(self._database, self._project))

    async def delete(self, stream: str) -> None:
        """Hide a stream and drop its rows; its forks stay complete."""
        await self._do(lambda: self._hide(stream))
        self.listeners.wake({stream: None})
        self._doorbell.ring()

    def _hide(self, stream: str) -> None:
        hide(self._database, stream, self.owners.alive)
        self._committer.forget(stream)

    async def trim(self, limit: int = 1000) -> int:
        """Remove at most this many events of deleted streams that no fork needs."""
        return await self._do(lambda: trim(self._database, limit))

    async def backup(
        self, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False
    ) -> Path:
        """Copy the database while it is in use; returns the copy's path. Writers don't have to
        wait.

        The copy is of one moment, is checked, and is private. `progress` is called in the event
        loop, with the pages done and the total.
        """
        self._check_open()
        target = Path(path).absolute()
        check_target(self.path, target, overwrite=overwrite)
        loop = asyncio.get_running_loop()

        def told(done: int, total: int) -> None:
            if progress is not None:
                loop.call_soon_threadsafe(progress, done, total)

        def copy() -> None:
            with closing(self._connect()) as database:
                back_up(database, target, told)

        with self._reads():
            await asyncio.to_thread(copy)
        return target

    async def compact(self, at_least: float = 0.1) -> int | None:
        """Return free space to the disk; returns how many bytes.

        Only if at least this share of the file is free. None if it isn't possible: while others
        have the database open, because they would have to wait, or if the disk has no room for the
        new file.
        """
        self._check_open()
        if free_share(self._reading) < at_least:
            return 0
        if self.owners.others() or not has_room(self.path):
            return None
        return await self._do(self._shrink)

    async def exclusively(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Read the whole file as it is at one moment, in a thread. No process can write meanwhile.

        StoreBusy if another process has the database open.
        """

        def run() -> Result:
            self.check_alone()
            result = work(self._database)
            self._committer.roll_back()
            return result

        return await self._do(run)

    def check_alone(self) -> None:
        """Raise StoreBusy if another process has the database open."""
        if others := self.owners.others():
            holder = others[0].partition("-")[0]
            raise StoreBusy(
                f"Process {holder} has {self.path} open, and may write to it. Stop that process "
                "and try again.",
                path=str(self.path),
                holder=holder,
            )

    def _shrink(self) -> int:
        # Only one at a time can empty the write-ahead log, which is part of it.
        self._checkpoints.finish()
        return shrink(self._database)

    async def _do(self, work: Callable[[], Result]) -> Result:
        """Run it in the writer thread, in one transaction, which it commits."""
        self._check_open()
        return await self._writer.run(work)

    async def _do_as_owner(self, work: Callable[[], Result]) -> Result:
        """Run it in the same way, for what is ours as long as we are alive; notify the others."""
        self._heartbeat.start()
        result = await self._do(work)
        self._doorbell.ring()
        return result

    async def close(self) -> None:
        """Finish what was started, release the leases, end the tails, and close every file."""
        if self.closed:
            return
        await self.slots.close()
        self.closed = True
        await self._writer.drain()
        if self._committer.held:
            # If the store can't be written to, close anyway: a dead owner owns nothing.
            with suppress(StoreError):
                await self._writer.run(self._committer.release)
        self.listeners.wake_all()
        self._let_go()

    def crash(self) -> None:
        """Stop as `kill -9` would: nothing is finished, and no lease is released.

        For tests. The files that a dead process leaves behind stay as well.
        """
        self.closed = True
        self.slots.crash()
        self._writer.abandon()
        self.listeners.wake_all()
        self._let_go(crashed=True)

    def _let_go(self, *, crashed: bool = False) -> None:
        self._heartbeat.stop()
        self._writer.close()
        self._checkpoints.close()
        self._news.stop()
        self._doorbell.close()
        self._reading.close()
        self._database.close()
        self.owners.close(crashed=crashed)
        self._place.turnstile.close()

    @contextmanager
    def _reads(self) -> Generator[None]:
        self._check_open()
        self._place.identities.check_now_and_then()
        try:
            yield
        except sqlite3.Error as error:
            self._check_open()
            raise translate(error, self.path) from error

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError("This log is closed; open it again.", path=str(self.path))
