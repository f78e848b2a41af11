"""The log in one SQLite file, which several processes may share.

Beside `x.db` lies the folder `x.db-live`: the lock that lets writers in one by one, and per
open handle a lock that tells whether it lives and a socket at which it hears of commits.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self, TypeVar

from callboard.clock import Clock, SystemClock
from callboard.errors import StoreError
from callboard.events import codec
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Projection, Query, Row
from callboard.log.admission import Claimant
from callboard.log.commit_signal import Doorbell
from callboard.log.listeners import Tailed
from callboard.log.owners import Heartbeat, Owners
from callboard.log.protocol import (
    ANYHOW,
    Appended,
    Lease,
    Limit,
    Notify,
    Writing,
    no_views,
)
from callboard.log.sqlite.backup import (
    Progress,
    back_up,
    check_target,
    free_share,
    has_room,
    shrink,
)
from callboard.log.sqlite.checkpoint import Checkpoints
from callboard.log.sqlite.commit import AppendRequest, Committer
from callboard.log.sqlite.deletion import hide, trim
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.file import connect
from callboard.log.sqlite.foreign_commits import News
from callboard.log.sqlite.migrate import rebuild
from callboard.log.sqlite.reader import Reader
from callboard.log.sqlite.setup import live_folder, set_up
from callboard.log.sqlite.tokens import SqliteTokens
from callboard.log.sqlite.transaction import WriteTarget
from callboard.log.sqlite.writer import Writer
from callboard.log.write_lock import Turnstile

Result = TypeVar("Result")

# A reader is held up only while another process opens or closes the file.
_LARGE = 262_144
"""Bytes that take long enough to compress that another thread does it."""
_READER_PATIENCE = 5.0


class SqliteLog(Tailed):
    """Streams in a file, with every promise of `EventLog`. Made by `SqliteLog.open`."""

    def __init__(
        self, database: sqlite3.Connection, place: WriteTarget, owners: Owners, project: Projection
    ) -> None:
        self.owner = owners.owner
        self.path = place.path
        self.closed = False
        self._database = database
        self._project = project
        self._place = place
        self._owners = owners
        self._heartbeat = Heartbeat(owners)
        self._doorbell = Doorbell(owners, place.clock.now_ms)
        self._reading = self._connect()
        self._reader = Reader(self._reading, self._connect)
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
        self.tokens = SqliteTokens(self._reading, database, self._reads, self._do)

    @classmethod
    def open(
        cls,
        path: str | Path,
        project: Projection = no_views,
        clock: Clock | None = None,
        frozen_after: float = 15.0,
        lock_timeout: float = 30.0,
    ) -> Self:
        """Open the database at `path`, made or migrated if need be.

        Args:
            path: the file; it and its folder are created private when they do not exist.
            project: turns events into rows of the views.
            clock: where the log takes the time from.
            frozen_after: seconds without a heartbeat after which an owner loses its leases.
            lock_timeout: seconds that a commit waits for other processes before StoreBusy.
        """
        # Whichever links lead to it: all processes must meet beside the file itself.
        given = Path(path).absolute()
        file = given.resolve()
        clock = clock or SystemClock()
        database, place = set_up(file, given, clock, lock_timeout)
        owners = Owners(live_folder(file), clock.monotonic, frozen_after)
        return cls(database, place, owners, project)

    def _connect(self) -> sqlite3.Connection:
        database = connect(self.path, patience=_READER_PATIENCE)
        database.execute("PRAGMA query_only = ON")
        return database

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none; returns when they are on the disk."""
        self._check_open()
        if writing.claim:
            self._heartbeat.start()
        # A copy, because the caller may reuse its list before this is written.
        copied = tuple(events)
        plain = [codec.plain(event) for event in copied]
        is_large = sum(map(len, plain)) > _LARGE
        if is_large:
            payloads = await asyncio.to_thread(_packed, plain)
            self._check_open()
        else:
            payloads = _packed(plain)
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
        """Events with after < position <= upto, the names in `skip` left out."""
        with self._reads():
            return await self._reader.read(stream, after, upto, limit, skip)

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 for a stream that does not exist."""
        with self._reads():
            return self._reader.head(stream)

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position, of a stream or of its prefix."""
        with self._reads():
            return self._reader.ancestry.checkpoint(stream, upto)

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        with self._reads():
            return await self._reader.read_all(after, upto, limit)

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 for a log that is empty."""
        with self._reads():
            return self._reader.last_sequence()

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        with self._reads():
            return await self._reader.rows(query)

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None for a stream that does not exist."""
        with self._reads():
            found = self._reader.lease(stream)
        if found is None:
            return None
        owner, epoch, settled = found
        return Lease(owner, epoch, settled, owner is not None and self._owners.alive(owner))

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        with self._reads():
            return self._reader.unsettled(limit)

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit to the stream; returns an undo."""
        with self._reads():
            return self.listeners.add(stream, notify)

    async def rebuild(self) -> int:
        """Empty the views and make them again from the events; returns how many events.

        It is one transaction: readers see the old views until it is done, and appends wait.
        """
        return await self._do(lambda: rebuild(self._database, self._project))

    async def delete(self, stream: str) -> None:
        """Hide a stream at once and drop its rows; its forks stay whole."""
        await self._do(lambda: self._hide(stream))
        self.listeners.wake({stream: None})
        self._doorbell.ring()

    def _hide(self, stream: str) -> None:
        hide(self._database, stream, self._owners.alive)
        self._committer.forget(stream)

    async def trim(self, limit: int = 1000) -> int:
        """Remove at most so many events of deleted streams that no fork needs."""
        return await self._do(lambda: trim(self._database, limit))

    async def backup(
        self, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False
    ) -> Path:
        """Copy the database while it is in use; returns where to. Writers need not wait.

        The copy shows one moment, is checked, and no one else may read it. `progress` is called
        in the event loop, with pages done and pages in all.
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
        """Give free space back to the disk; returns how many bytes that were.

        Only if that share of the file is free. None where it may not be: while others have the
        database open, who would have to wait, or while the disk has no room for the new file.
        """
        self._check_open()
        if free_share(self._reading) < at_least:
            return 0
        if not self._owners.alone() or not has_room(self.path):
            return None
        return await self._do(self._shrink)

    def _shrink(self) -> int:
        # Only one at a time can empty the write-ahead log, which is part of it.
        self._checkpoints.finish()
        return shrink(self._database)

    async def _do(self, work: Callable[[], Result]) -> Result:
        """Do something in the writer thread, in one transaction, which it commits."""
        self._check_open()
        return await self._writer.run(work)

    async def close(self) -> None:
        """Finish what was started, give the leases back, end the tails, let go of every file."""
        if self.closed:
            return
        self.closed = True
        await self._writer.drain()
        if self._committer.held:
            # A store that cannot be written to is not a reason to stay: who is gone owns nothing.
            with suppress(StoreError):
                await self._writer.run(self._committer.release)
        self.listeners.wake_all()
        self._let_go()

    def crash(self) -> None:
        """Stop as `kill -9` would: nothing is finished and no lease is given back.

        For tests. The files that a dead process leaves behind stay as well.
        """
        self.closed = True
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
        self._owners.close(crashed=crashed)
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


def _packed(payloads: list[bytes]) -> list[bytes]:
    return [codec.pack(payload) for payload in payloads]
