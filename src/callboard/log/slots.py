"""Slots: at most so many agents of a kind at once, in all processes that share a log.

Every agent that wants a slot has a row, in the order in which they came. The transaction that makes
room, by removing a row or by changing the limit's number, also grants the next ones. A process
looks after its own rows while one of them waits: after every commit, and twice a second, because
notifications get lost and owners die silently.

A session can also keep its place while no process waits for it. Such a row has no owner; it is
granted in its turn, and the next process that drives the session takes it over.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from callboard.clock import Clock
from callboard.errors import StoreError
from callboard.events.limits import AgentLimit, AgentSlot
from callboard.ids import short_id
from callboard.log.protocol import Notify
from callboard.waiting import wait_any

LISTED = 1000
"""The maximum number of slots in a list."""

NO_ONE = ""
"""The owner of the rows of sessions that keep their places while no process waits for them."""

DUE = 500
"""How many sessions to name at once whose turn has come."""

TAKEN_WITHIN = 10_000
"""Milliseconds. If no one takes a slot that was granted to such a row, others get it."""

_LOOK_EVERY = 0.5
_LOOK_AT_MOST_EVERY = 0.02
"""Seconds. Any commit makes us look, and a busy log has hundreds per second."""
_CLOSED = "This log is closed; open it again."


class SlotRow(NamedTuple):
    """A slot of one of our agents; it waits until it has `taken_at`."""

    id: str
    name: str
    session: str
    run: str
    since: int
    taken_at: int | None = None


class OwnRows(NamedTuple):
    """What the table has of one owner: the rows that are granted, and how many there are."""

    granted: frozenset[str]
    total: int


class SlotCount(NamedTuple):
    """How many rows of one owner have a slot of a limit, or wait for one."""

    name: str
    owner: str
    waiting: bool
    total: int


class SlotTable(Protocol):
    """The rows of all owners, and the numbers. Each method is one transaction.

    `at` is the time in milliseconds, for rows that are granted in it.
    """

    async def change(self, leave: Sequence[SlotRow], enter: Sequence[SlotRow], at: int) -> OwnRows:
        """Remove rows, and add others that aren't there yet, at the end of their queues."""
        ...

    async def own(self) -> OwnRows:
        """The rows of this owner."""
        ...

    async def remove_dead(self, names: Collection[str] | None, at: int) -> bool:
        """Remove the rows of dead owners from these queues; returns whether there were any.

        None: of dead owners that have a slot of any limit.
        """
        ...

    async def list(self, session: str | None) -> list[AgentLimit]:
        """Every limit, with the slots of all sessions or of one."""
        ...

    async def set(self, name: str, number: int | None, at: int) -> None:
        """Change a limit's number; None removes it."""
        ...


class PlaceTable(Protocol):
    """The rows without an owner. They wait, are granted, or are late: no one took their slot."""

    async def keep(self, rows: Sequence[SlotRow], at: int) -> None:
        """Let these rows of this owner belong to no one; add those that are missing."""
        ...

    async def due(self, session: str | None, most: int) -> Sequence[tuple[str, int | None]]:
        """Sessions whose rows are granted, and since when; then those whose rows are late."""
        ...

    async def pass_over(self, granted_until: int, at: int) -> None:
        """Take the slots from rows that were granted at this time or before: they are late.

        They keep their places, but get no slot before someone takes them over.
        """
        ...

    async def leave(self, session: str, at: int) -> bool:
        """Remove the rows of a session; returns whether there were any."""
        ...


class QueueTable(SlotTable, PlaceTable, Protocol):
    """All rows."""


class SlotQueue:
    """This process's place in the queues: implements `SlotStore` on any table."""

    def __init__(
        self,
        table: QueueTable,
        clock: Clock,
        on_change: Callable[[str | None, Notify], Callable[[], None]],
    ) -> None:
        self._table = table
        self._clock = clock
        self._on_change = on_change
        self._rows: dict[str, SlotRow] = {}
        self._waiting: dict[str, asyncio.Future[bool]] = {}
        self._leaves: dict[str, Callable[[], bool]] = {}
        self._entering: dict[str, SlotRow] = {}
        self._leaving: list[SlotRow] = []
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def take(self, name: str, session: str, run: str) -> str:
        """Wait for a slot; returns its id."""
        slot = await self._enter(name, session, run, None)
        assert slot is not None
        return slot

    async def queue(
        self, name: str, session: str, run: str, leaves: Callable[[], bool]
    ) -> str | None:
        """Wait for a slot; returns its id, or None if the session keeps its place instead."""
        return await self._enter(name, session, run, leaves)

    async def _enter(
        self, name: str, session: str, run: str, leaves: Callable[[], bool] | None
    ) -> str | None:
        row = SlotRow(short_id(), name, session, run, self._clock.now_ms())
        self._work()
        granted = asyncio.get_running_loop().create_future()
        self._rows[row.id] = self._entering[row.id] = row
        self._waiting[row.id] = granted
        if leaves is not None:
            self._leaves[row.id] = leaves
        try:
            return row.id if await granted else None
        except BaseException:
            self.free(row.id)
            raise

    def free(self, slot: str) -> None:
        """Give a slot back, or give up waiting for it."""
        row = self._rows.pop(slot, None)
        if row is None:
            return
        for mine in (self._waiting, self._entering, self._leaves):
            mine.pop(slot, None)
        self._leaving.append(row)
        self._work()

    async def due(self, session: str | None = None) -> Sequence[str]:
        """Sessions that kept a place and whose turn has come; removes who stands in their way."""
        now = self._clock.now_ms()
        if session is None:
            await self._table.remove_dead(None, now)
        found = await self._table.due(session, DUE)
        expired = now - TAKEN_WITHIN
        if session is None and any(at is not None and at <= expired for _, at in found):
            await self._table.pass_over(expired, now)
        return list(dict.fromkeys(one for one, _ in found))

    async def leave(self, session: str) -> bool:
        """Give up the places that a session kept; returns whether there were any."""
        return await self._table.leave(session, self._clock.now_ms())

    async def list(self, session: str | None = None) -> list[AgentLimit]:
        """The limits that have a number or are in use, by name."""
        return await self._table.list(session)

    async def set(self, name: str, number: int | None) -> None:
        """Change a limit's number; None removes it."""
        await self._table.set(name, number, self._clock.now_ms())
        self._changed.set()

    def _work(self) -> None:
        """Have the task write what has changed here."""
        loop = asyncio.get_running_loop()
        task = self._task
        if task is not None and not task.done() and task.get_loop() is loop:
            self._changed.set()
            return
        if task is not None and task.get_loop() is not loop:
            # The agents of a loop that has ended are gone, and so is everyone who waited.
            self._leaving += self._rows.values()
            for mine in (self._rows, self._entering, self._waiting, self._leaves):
                mine.clear()
        self._changed = asyncio.Event()
        self._task = loop.create_task(self._run())

    async def _run(self) -> None:
        """Keep the table up to date, until nothing waits and nothing is left to do."""
        listening: Callable[[], None] | None = None
        try:
            while self._entering or self._leaving or self._waiting:
                self._changed.clear()
                failed = not await self._turn()
                if failed and self._closing:
                    return
                if self._waiting and listening is None:
                    # Look once more: room may have been made before we listened.
                    listening = self._on_change(None, lambda head: self._changed.set())
                elif self._waiting or failed:
                    await self._rest()
        finally:
            if listening is not None:
                listening()
            self._fail(self._waiting, StoreError(_CLOSED))

    async def _rest(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _LOOK_AT_MOST_EVERY
        await wait_any(self._changed.wait(), timeout=_LOOK_EVERY)
        if not (self._entering or self._leaving):
            await asyncio.sleep(max(until - loop.time(), 0))

    async def _turn(self) -> bool:
        """Write what has changed here, and look at what was granted; False if that failed."""
        leaving, self._leaving = self._leaving, []
        entering, self._entering = self._entering, {}
        known, now = len(self._rows), self._clock.now_ms()
        try:
            if leaving or entering:
                own = await self._table.change(leaving, list(entering.values()), now)
            else:
                own = await self._table.own()
            leaving, entering = [], {}
            self._grant(own.granted, now)
            if own.total < known:
                # Others took us for dead, and removed our rows.
                self._entering = {**self._rows, **self._entering}
            await self._keep_places(now)
            waited_for = {self._rows[slot].name for slot in self._waiting}
            if waited_for and await self._table.remove_dead(waited_for, now):
                self._changed.set()
        except StoreError as error:
            # Whether they were written isn't known; removing them twice does no harm.
            self._leaving += leaving
            self._fail(entering, error)
            return False
        return True

    def _grant(self, granted: Iterable[str], now: int) -> None:
        for slot in granted:
            waiter = self._waiting.pop(slot, None)
            self._leaves.pop(slot, None)
            if waiter is not None and not waiter.done():
                self._rows[slot] = self._rows[slot]._replace(taken_at=now)
                waiter.set_result(True)

    async def _keep_places(self, now: int) -> None:
        """Let go of the rows for which no one has to wait here."""
        rows = [self._rows[slot] for slot in self._waiting if slot in self._leaves]
        rows = [row for row in rows if row.id not in self._entering and self._leaves[row.id]()]
        if not rows:
            return
        try:
            await self._table.keep(rows, now)
        except StoreError as error:
            self._fail((row.id for row in rows), error)
            raise
        for row in rows:
            waiter = self._waiting.pop(row.id, None)
            if waiter is not None and not waiter.done():
                del self._rows[row.id], self._leaves[row.id]
                waiter.set_result(False)

    def _fail(self, slots: Iterable[str], error: StoreError) -> None:
        for slot in tuple(slots):
            waiter = self._waiting.pop(slot, None)
            if waiter is not None and not waiter.done():
                waiter.set_exception(type(error)(error.message, **error.context))

    async def close(self) -> None:
        """Give every slot back."""
        task = self._task
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            return
        self._closing = True
        self._fail(self._waiting, StoreError(_CLOSED))
        for slot in tuple(self._rows):
            self.free(slot)
        if self._task is not None:
            await asyncio.wait({self._task})

    def crash(self) -> None:
        """Stop at once, and give nothing back."""
        for mine in (self._rows, self._entering, self._leaving):
            mine.clear()
        with suppress(RuntimeError):  # The loop has been closed, and no one waits anymore.
            self._fail(self._waiting, StoreError(_CLOSED))
            if self._task is not None:
                self._task.cancel()


def described(
    numbers: Mapping[str, int],
    counts: Iterable[SlotCount],
    slots: Iterable[tuple[str, AgentSlot]],
    dead: Collection[str],
) -> list[AgentLimit]:
    """The limits, without the rows of dead owners; `slots` are those to list, with their names."""
    in_use: dict[str, int] = dict.fromkeys(numbers, 0)
    waiting: dict[str, int] = dict.fromkeys(numbers, 0)
    listed: dict[str, list[AgentSlot]] = {}
    for one in counts:
        if one.owner not in dead:
            totals, others = (waiting, in_use) if one.waiting else (in_use, waiting)
            totals[one.name] = totals.get(one.name, 0) + one.total
            others.setdefault(one.name, 0)
    for name, slot in slots:
        if slot.owner not in dead:
            listed.setdefault(name, []).append(slot)
    return [
        AgentLimit(name, numbers.get(name), in_use[name], waiting[name], listed.get(name, []))
        for name in sorted(in_use)
    ]
