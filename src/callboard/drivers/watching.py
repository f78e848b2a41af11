"""A driver that keeps running: it drives whatever session has work to do, then the next."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from callboard.clock import Clock
from callboard.drivers.backlog import Backlog
from callboard.drivers.local import LocalDriver, Manner
from callboard.drivers.lookout import PAGE, Lookout
from callboard.errors import CallboardError, OwnershipLost, SessionOwned
from callboard.events.rows import Query, Row
from callboard.log.protocol import EventLog, Lease
from callboard.waiting import wait_any

LOOK_EVERY = 5.0
"""Look again after this many seconds even if nothing was reported: owners die silently."""

# Looking takes at most a twentieth of the time, however much there is to look at.
_SHARE = 20
_AFTER_A_FAILURE = 1.0

_log = logging.getLogger(__name__)


class WatchingDriver:
    """Drives every session of a log that has work to do and that no living process is driving.

    It relies on what is in the log, not on notifications: a commit by any process only makes it
    look. So nothing is missed, and a waiting session costs nothing at all.
    """

    def __init__(
        self,
        driver: LocalDriver,
        log: EventLog,
        clock: Clock,
        concurrency: int = 64,
        manner: Manner | None = None,
    ) -> None:
        self._driver = driver
        self._log = log
        self._clock = clock
        self._concurrency = concurrency
        self._manner = replace(manner or Manner(), parks=True, leaving=lambda: self._stopping)
        self._lookout = Lookout(log, clock)
        self._backlog = Backlog()
        self._called: set[str] = set()
        # Not a session, or of a workflow not known here: other drivers may know it, so leave it
        # alone.
        self._strangers: set[str] = set()
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._more = False
        self._next_at: int | None = None
        self._stopping = True
        self._watching: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] | None = None

    @property
    def driving(self) -> int:
        """How many sessions are being driven right now."""
        return len(self._driving)

    @property
    def queued(self) -> int:
        """How many sessions have work to do and are waiting for their turn."""
        return len(self._backlog)

    async def start(self) -> None:
        """Resume what was left unfinished, and watch from now on."""
        if self._watching is not None:
            return
        self._stopping = False
        self._unsubscribe = self._log.on_change(None, lambda head: self._changed.set())
        try:
            await self._look()
        except BaseException:
            await self.stop(0)
            raise
        self._watching = asyncio.create_task(self._watch())

    async def stop(self, grace: float) -> None:
        """Start nothing new, let agents finish for `grace` seconds, then interrupt them.

        When this returns, no session is held here, and any driver can continue them.
        """
        self._stopping = True
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self._backlog.clear()
        self._called.clear()
        if self._watching is not None:
            await _end([self._watching])
            self._watching = None
        self._driver.nudge()
        await self._wait_for_drives(grace)
        await _end(list(self._driving.values()))

    async def _wait_for_drives(self, grace: float) -> None:
        if not self._driving or grace <= 0:
            return
        # `asyncio.wait` does not cancel the drives when the time is up: `_end` does, once.
        await wait_any(self._clock.sleep(grace), asyncio.wait(self._driving.values()))

    def wake(self, session_id: str) -> None:
        """Drive a session now, even one that was left alone, such as a fork with `run=False`."""
        if not self._stopping and session_id not in self._driving:
            self._called.add(session_id)
            self._backlog.add(session_id)
            self._pump()

    async def _watch(self) -> None:
        while True:
            self._changed.clear()
            began = self._clock.monotonic()
            try:
                await self._look()
            except Exception as error:  # A store that fails now may work again later.
                _tell("The log could not be read", error)
                self._changed.set()
                pause = _AFTER_A_FAILURE
            else:
                pause = min((self._clock.monotonic() - began) * _SHARE, LOOK_EVERY)
            if pause:
                await self._clock.sleep(pause)
            await self._rest()

    async def _look(self) -> None:
        """Queue the sessions that have work to do."""
        self._backlog.ripen(self._clock.monotonic())
        self._more = len(self._backlog) >= PAGE
        if not self._more:
            found = await self._lookout.look(self._is_wanted)
            self._more, self._next_at = found.more, found.next_at
            for session_id in found.sessions:
                self._backlog.add(session_id)
        self._pump()

    async def _is_wanted(self, session_id: str) -> bool:
        if session_id in self._driving or session_id in self._strangers:
            return False
        if session_id in self._backlog:
            return False
        if not self._backlog.is_put_off(session_id):
            return True
        head = self._backlog.head_of(session_id)
        return head is not None and await self._log.head(session_id) != head

    async def _rest(self) -> None:
        """Sleep until something changes or is due."""
        seconds = self._seconds_left()
        if self._changed.is_set() or seconds <= 0:
            await asyncio.sleep(0)
            return
        await wait_any(self._clock.sleep(seconds), self._changed.wait())

    def _seconds_left(self) -> float:
        waits = [LOOK_EVERY]
        if self._next_at is not None:
            waits.append((self._next_at - self._clock.now_ms()) / 1000)
        if (at := self._backlog.next_at()) is not None:
            waits.append(at - self._clock.monotonic())
        return min(waits)

    def _pump(self) -> None:
        """Fill every free slot with a session from the queue."""
        while self._backlog and not self._stopping and len(self._driving) < self._concurrency:
            session_id = self._backlog.take()
            self._driving[session_id] = asyncio.create_task(self._attend(session_id))

    async def _attend(self, session_id: str) -> None:
        head: int | None = None
        try:
            head = await self._work_at(session_id)
            if head is not None:
                await self._carry_on(session_id, head)
        except (SessionOwned, OwnershipLost):
            await self._put_off(session_id, failed=False)
        except Exception as error:
            _tell(f"Session {session_id} could not be continued", error)
            await self._put_off(session_id, failed=True)
        finally:
            # In this order: what came too late for this drive is found by the next look.
            del self._driving[session_id]
            self._changed.set()
            self._pump()

    async def _carry_on(self, session_id: str, head: int) -> None:
        view = await self._driver.carry_on(session_id, self._manner)
        if view.position == head:
            # Something seemed to be due but wasn't: don't look again right away.
            self._rest_at(session_id, head, failed=False)
        else:
            self._backlog.forget(session_id)

    async def _work_at(self, session_id: str) -> int | None:
        """The length of a stream with work to do here; None if there is nothing to do."""
        called = session_id in self._called
        self._called.discard(session_id)
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        lease = await self._log.lease(session_id)
        if not rows:
            await self._driver.expire(session_id)
        if not rows or lease is None or not self._driver.knows(rows[0]["workflow"]):
            self._strangers.add(session_id)
            self._backlog.forget(session_id)
            return None
        [row] = rows
        head: int = row["position"]
        if row["ended"] or row["paused"] or self._is_driven(session_id, lease):
            await self._leave_alone(row, lease)
        elif called or lease.settled < head or await self._is_due(session_id):
            return head
        else:
            self._backlog.forget(session_id)
        return None

    def _is_driven(self, session_id: str, lease: Lease) -> bool:
        if lease.owner == self._log.owner:
            return self._driver.drives(session_id)
        return lease.owner is not None and lease.alive

    async def _leave_alone(self, row: Row, lease: Lease) -> None:
        """Leave alone a session that has ended, is paused, or is driven by another process."""
        session_id, head = row["id"], row["position"]
        if (row["ended"] or row["paused"]) and lease.settled < head:
            await self._driver.settle(session_id, head)
        if row["ended"] or (row["paused"] and not await self._is_due(session_id)):
            self._backlog.forget(session_id)
        else:
            self._rest_at(session_id, head, failed=False)

    async def _is_due(self, session_id: str) -> bool:
        due = ("at", self._clock.now_ms())
        return bool(
            await self._log.rows(Query("wakeups", {"session": session_id}, at_most=due, limit=1))
        )

    async def _put_off(self, session_id: str, *, failed: bool) -> None:
        head: int | None = None
        try:
            head = await self._log.head(session_id)
        except CallboardError as error:
            _tell(f"Session {session_id} could not be checked", error)
        self._rest_at(session_id, head, failed=failed)

    def _rest_at(self, session_id: str, head: int | None, *, failed: bool) -> None:
        if not self._stopping:
            self._backlog.put_off(session_id, head, self._clock.monotonic(), failed=failed)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _tell(what: str, error: Exception) -> None:
    """Log an error; unexpected ones with their traceback."""
    _log.warning("%s: %s", what, error, exc_info=not isinstance(error, CallboardError))
