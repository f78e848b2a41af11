"""A log that fails, dawdles or dies when a test wants it to.

memory = Memory()
log = FaultyLog(MemoryLog(project, clock, memory)).crash(before=3)
with pytest.raises(Crashed):
    await driver(log).drive(session)
again = MemoryLog(project, clock, memory)    # another process, after the first has died
await driver(again).recover()
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from typing import Protocol, Self, TypeVar

from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Query, Row
from callboard.log.protocol import ANYHOW, Appended, EventLog, Lease, Limit, Notify, Writing
from callboard.testing.fake_clock import FakeClock


class Crashed(BaseException):
    """The process would be dead by now. No `except Exception` of the code under test stops it."""


class Mortal(EventLog, Protocol):
    """A log that can stop as `kill -9` would stop it, as those of memory and SQLite can."""

    def crash(self) -> None:
        """Stop; leases are not given back, and their owner is dead."""
        ...


Fault = Callable[[], Awaitable[None]]
T = TypeVar("T")


class FaultyLog:
    """One handle on a log, with faults at the appends that were named, counted from 1.

    Once it has crashed, every call on it raises Crashed, as from a process that is no more.
    A `clock` that jumps by itself stands still while the log answers, which may take a thread.
    """

    def __init__(self, log: Mortal, clock: FakeClock | None = None) -> None:
        self.log = log
        self.owner = log.owner
        self.appends = 0
        """How many appends have been asked for."""
        self.crashed = False
        self._held = clock.held if clock else nullcontext
        self._before: dict[int, list[Fault]] = {}
        self._after: dict[int, list[Fault]] = {}

    def crash(self, *, before: int | None = None, after: int | None = None) -> Self:
        """Die just before or just after that append, was it refused or not; without either, now."""
        if before is not None:
            self._before.setdefault(before, []).append(self._die)
        if after is not None:
            self._after.setdefault(after, []).append(self._die)
        if before is None and after is None:
            self._stop()
        return self

    def fail(
        self, error: Exception, *, before: int | None = None, after: int | None = None
    ) -> Self:
        """Raise an error instead of that append, or after it has happened unheard."""

        async def fault() -> None:
            raise error

        return self._add(fault, before, after)

    def delay(
        self, until: asyncio.Event, *, before: int | None = None, after: int | None = None
    ) -> Self:
        """Keep that append from happening, or from being heard of, until the event is set."""

        async def fault() -> None:
            await until.wait()

        return self._add(fault, before, after)

    def _add(self, fault: Fault, before: int | None, after: int | None) -> Self:
        if before is not None:
            self._before.setdefault(before, []).append(fault)
        if after is not None:
            self._after.setdefault(after, []).append(fault)
        return self

    async def _die(self) -> None:
        self._stop()
        raise Crashed

    def _stop(self) -> None:
        if not self.crashed:
            self.crashed = True
            self.log.crash()

    def _check(self) -> None:
        if self.crashed:
            raise Crashed

    async def _lived(self, work: Awaitable[T]) -> T:
        """What the work gives, unless the crash came while it was being done."""
        try:
            with self._held():
                return await work
        finally:
            self._check()

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append, with whatever fault was meant for this one."""
        self._check()
        self.appends += 1
        number = self.appends
        for fault in self._before.get(number, []):
            await fault()
        self._check()
        try:
            return await self._lived(self.log.append(stream, events, writing))
        finally:
            for fault in self._after.get(number, []):
                await fault()
            self._check()

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: Limit = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Read from the log."""
        self._check()
        return await self._lived(self.log.read(stream, after, upto, limit, skip))

    async def head(self, stream: str) -> int:
        """The position of the last event."""
        self._check()
        return await self._lived(self.log.head(stream))

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position."""
        self._check()
        return await self._lived(self.log.checkpoint(stream, upto))

    def tail(self, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """History, then whatever comes."""
        self._check()
        return self.log.tail(stream, after)

    def tail_all(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """All streams."""
        self._check()
        return self.log.tail_all(after)

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Read from all streams."""
        self._check()
        return await self._lived(self.log.read_all(after, upto, limit))

    async def last_sequence(self) -> int:
        """The sequence of the newest event."""
        self._check()
        return await self._lived(self.log.last_sequence())

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        self._check()
        return await self._lived(self.log.rows(query))

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream."""
        self._check()
        return await self._lived(self.log.lease(stream))

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled."""
        self._check()
        return await self._lived(self.log.unsettled(limit))

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` after any commit to the stream."""
        self._check()
        return self.log.on_change(stream, notify)

    async def delete(self, stream: str) -> None:
        """Hide a stream."""
        self._check()
        return await self._lived(self.log.delete(stream))

    async def trim(self, limit: int = 1000) -> int:
        """Remove what nobody can read any more."""
        self._check()
        return await self._lived(self.log.trim(limit))

    async def rebuild(self) -> int:
        """Make the views again."""
        self._check()
        return await self._lived(self.log.rebuild())

    async def close(self) -> None:
        """Let go of the log; the dead need not."""
        if not self.crashed:
            await self.log.close()
