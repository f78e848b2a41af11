"""A log that fails, stalls or crashes on demand.

memory = Memory()
log = FaultyLog(MemoryLog(project, clock, memory)).crash(before=3)
with pytest.raises(Crashed):
    await driver(log).drive(session)
again = MemoryLog(project, clock, memory)    # another process, after the first has died
await driver(again).recover()
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from callboard.errors import StoreError
from callboard.events.envelope import Event, NewEvent
from callboard.log.protocol import (
    ANYHOW,
    Appended,
    EventLog,
    Notify,
    NotifyAppend,
    ServerState,
    TokenStore,
    Writing,
)
from callboard.log.registry import OwnerRegistry
from callboard.log.slot_store import SlotStore
from callboard.testing.fake_clock import FakeClock


class Crashed(BaseException):
    """The process is dead. A BaseException, so that `except Exception` doesn't catch it."""


class Mortal(EventLog, Protocol):
    """A log that can stop as if killed with `kill -9`, such as the in-memory and the SQLite log."""

    def crash(self) -> None:
        """Stop without releasing leases, as if their owner had died."""
        ...


Fault = Callable[[], Awaitable[object]]
P = ParamSpec("P")
T = TypeVar("T")


def _unless_crashed(
    method: "Callable[Concatenate[EventLog, P], CoroutineType[Any, Any, T]]",
) -> "Callable[Concatenate[FaultyLog, P], CoroutineType[Any, Any, T]]":
    """Forward to the wrapped log's method, unless the FaultyLog has crashed."""

    @wraps(method)
    async def call(self: "FaultyLog", *given: P.args, **named: P.kwargs) -> T:
        self.check()
        return await self.lived(getattr(self.log, method.__name__)(*given, **named))

    return call


class FaultyLog:
    """A handle on a log that injects faults at the given appends, counted from 1.

    After a crash, every call raises Crashed. An autojumping `clock` is held while the log works,
    because the log may use a thread.
    """

    def __init__(self, log: Mortal, clock: FakeClock | None = None) -> None:
        self.log = log
        self.owner = log.owner
        self.path = log.path
        self.appends = 0
        """The number of appends so far."""
        self.crashed = False
        self._held = clock.held if clock else nullcontext
        self._before: dict[int, list[Fault]] = {}
        self._after: dict[int, list[Fault]] = {}

    def crash(self, *, before: int | None = None, after: int | None = None) -> Self:
        """Crash right before or right after that append, even if it is refused; by default, now."""
        if before is None and after is None:
            self._stop()
        return self._add(self._die, before, after)

    def fail(
        self, error: Exception, *, before: int | None = None, after: int | None = None
    ) -> Self:
        """Raise an error instead of that append, or after it was written."""

        async def fault() -> None:
            raise error

        return self._add(fault, before, after)

    def delay(
        self, until: asyncio.Event, *, before: int | None = None, after: int | None = None
    ) -> Self:
        """Delay that append, or its return, until the event is set."""
        return self._add(until.wait, before, after)

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

    def check(self) -> None:
        """Raise Crashed after a crash."""
        if self.crashed:
            raise Crashed

    async def lived(self, work: Awaitable[T]) -> T:
        """Return the result of the work, or raise Crashed if a crash came in between."""
        try:
            with self._held():
                return await work
        finally:
            self.check()

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append, with the faults set for this append."""
        self.check()
        self.appends += 1
        number = self.appends
        for fault in self._before.get(number, []):
            await fault()
        self.check()
        try:
            return await self.lived(self.log.append(stream, events, writing))
        finally:
            for fault in self._after.get(number, []):
                await fault()
            self.check()

    read = _unless_crashed(EventLog.read)
    read_all = _unless_crashed(EventLog.read_all)
    head = _unless_crashed(EventLog.head)
    last_sequence = _unless_crashed(EventLog.last_sequence)
    checkpoint = _unless_crashed(EventLog.checkpoint)
    rows = _unless_crashed(EventLog.rows)
    session_counts = _unless_crashed(EventLog.session_counts)
    lease = _unless_crashed(EventLog.lease)
    unsettled = _unless_crashed(EventLog.unsettled)
    delete = _unless_crashed(EventLog.delete)
    trim = _unless_crashed(EventLog.trim)
    rebuild = _unless_crashed(EventLog.rebuild)

    @property
    def tokens(self) -> TokenStore:
        """The access tokens."""
        self.check()
        return self.log.tokens

    @property
    def server_state(self) -> ServerState:
        """What servers share for a while."""
        self.check()
        return self.log.server_state

    def outage(self) -> StoreError | None:
        """Why the log can't be reached at the moment."""
        self.check()
        return self.log.outage()

    @property
    def is_cut_off(self) -> bool:
        """Whether others may take our leases by now."""
        return self.log.is_cut_off

    @property
    def incarnation(self) -> int:
        """Changes if events may have been lost that were already read."""
        return self.log.incarnation

    @property
    def owners(self) -> OwnerRegistry:
        """Who has the log open."""
        self.check()
        return self.log.owners

    @property
    def slots(self) -> SlotStore:
        """The slots of limits."""
        self.check()
        return self.log.slots

    def tail(self, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """Past events, then new ones as they come."""
        self.check()
        return self.log.tail(stream, after)

    def tail_all(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """Events of all streams."""
        self.check()
        return self.log.tail_all(after)

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` after any commit to the stream."""
        self.check()
        return self.log.on_change(stream, notify)

    def on_append(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with the streams that this handle wrote to."""
        self.check()
        return self.log.on_append(notify)

    def on_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with streams that others wrote to and that someone has to drive."""
        self.check()
        return self.log.on_work(notify)

    async def close(self) -> None:
        """Close the log, unless it has crashed."""
        if not self.crashed:
            await self.log.close()
