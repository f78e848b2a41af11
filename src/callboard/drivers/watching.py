"""Drivers that keep running: they get whatever session has work to do driven, then the next."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from callboard.clock import Clock
from callboard.drivers.backlog import Backlog
from callboard.drivers.engine import Engine, LocalEngine, successor
from callboard.drivers.local import LocalDriver, Manner
from callboard.drivers.lookout import PAGE, Lookout, is_behind
from callboard.engine.slots import LEAVING, SlotWait
from callboard.errors import CallboardError, OwnershipLost, SessionOwned, WorkflowNotFound
from callboard.events.rows import Row
from callboard.log.protocol import EventLog
from callboard.waiting import end, wait_any

LOOK_EVERY = 5.0
"""Look again after this many seconds even if nothing was reported: owners die silently."""

SWEEP_EVERY = 0.5
"""The same for the elected dispatcher of an engine, which looks for all of them."""

# Looking takes at most a twentieth of the time, however much there is to look at.
_SHARE = 20
_AFTER_A_FAILURE = 1.0
_MOST_IDLE = 1000
"""So many sessions that wait for a slot of a limit don't keep others from being driven."""

_log = logging.getLogger(__name__)


class Dispatcher:
    """Wakes every session of a log that has work to do and that no living process is driving.

    It relies on what is in the log, not on notifications: a commit by any process makes it look,
    even if that didn't name a stream. So nothing is missed, and a waiting session costs nothing at
    all. How a session is driven is up to the engine.

    With an engine that has its own workers, a commit of this process is dispatched at once, and one
    elected process looks for everything else: commits by others, timers, lost wakes, dead owners.
    """

    def __init__(
        self,
        engine: Engine,
        driver: LocalDriver,
        log: EventLog,
        clock: Clock,
        concurrency: int = 64,
    ) -> None:
        self._engine = engine
        self._driver = driver
        self._log = log
        self._clock = clock
        self._concurrency = concurrency
        self._manner = Manner(parks=True, leaving=lambda: self._stopping, slot_wait=LEAVING)
        self._idle = 0
        self._lookout = Lookout(log, clock)
        self._backlog = Backlog()
        self._called: set[str] = set()
        # Not sessions, or of workflows that only other drivers may know.
        self._strangers: set[str] = set()
        self._driving: dict[str, asyncio.Task[None]] = {}
        # What was written while a wake was under way may have come too late for it.
        self._again: set[str] = set()
        self._jobs: set[str] = set()
        self._changed = asyncio.Event()
        self._more = False
        self._next_at: int | None = None
        self._swept_at = float("-inf")
        self._stopping = True
        self._watching: asyncio.Task[None] | None = None
        self._unsubscribe: list[Callable[[], None]] = []

    @property
    def driving(self) -> int:
        """How many sessions are being driven right now."""
        return len(self._jobs if self._engine.polls else self._driving)

    @property
    def queued(self) -> int:
        """How many sessions have work to do and are waiting for their turn."""
        return len(self._backlog)

    async def start(self) -> None:
        """Resume what was left unfinished, and watch from now on."""
        if self._watching is not None:
            return
        self._stopping = False
        if self._engine.polls:
            self._unsubscribe = [self._log.on_append(self._written)]
        else:
            self._unsubscribe = [
                self._log.on_change(None, lambda head: self._changed.set()),
                self._log.on_work(self._written),
            ]
        try:
            await self._engine.start(self)
            await self._look()
        except BaseException:
            await self.stop(0)
            raise
        self._watching = asyncio.create_task(self._watch())

    async def registered(self, engine_worker: str | None) -> None:
        """Let others know what can be driven here, and the engine's id of this process."""
        await self._log.owners.describe(self._driver.described(engine_worker))

    async def stop(self, grace: float) -> None:
        """Start nothing new, let agents finish for `grace` seconds, then interrupt them.

        When this returns, no session is held here, and any driver can continue them.
        """
        self._stopping = True
        while self._unsubscribe:
            self._unsubscribe.pop()()
        self._backlog.clear()
        self._called.clear()
        if self._watching is not None:
            await end([self._watching])
            self._watching = None
        self._driver.nudge()
        await self._engine.stop(grace)
        # A wake that is only a hint need not be finished.
        await self._wait_for_drives(0 if self._engine.polls else grace)
        await end(list(self._driving.values()))

    async def _wait_for_drives(self, grace: float) -> None:
        if self._driving and grace > 0:
            # A copy: they may end before the wait starts. `end` cancels those that are left, once.
            await wait_any(self._clock.sleep(grace), asyncio.wait(list(self._driving.values())))

    def wake(self, session_id: str) -> None:
        """Drive a session now, even one that was left alone, such as a fork with `run=False`."""
        if not self._stopping and session_id not in self._driving:
            self._called.add(session_id)
            self._backlog.add(session_id)
            self._pump()

    async def drive(self, session_id: str) -> str | None:
        """Drive a session that an engine gave to this process; see `JobRunner`."""
        if session_id in self._jobs:
            return None  # A job that came twice.
        self._jobs.add(session_id)
        try:
            await self._driver.carry_on(session_id, self._manner)
        except (SessionOwned, OwnershipLost):
            return None  # Its owner continues; if that dies, the dispatcher notices it.
        except Exception as error:
            await self._excuse(session_id, error)
            return successor(error)
        finally:
            self._jobs.discard(session_id)
        self._written([session_id])
        return None

    def _written(self, streams: Collection[str]) -> None:
        """Look at streams that were written to, except by a drive in this process."""
        if self._stopping:
            return
        for stream in streams:
            if stream not in self._strangers and not self._driver.drives(stream):
                self._queue(stream)
        self._pump()

    def _queue(self, session_id: str) -> None:
        """Look at a session as soon as there is room and no wake of it is under way."""
        if session_id in self._driving:
            self._again.add(session_id)
        elif not self._stopping:
            self._backlog.add(session_id)

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
        self._backlog.forget_dead(self._log.owners.alive)
        await self._ripen()
        if len(self._backlog) < PAGE and self._has_to_sweep():
            self._swept_at = self._clock.monotonic()
            await self._sweep()
        self._pump()

    def _has_to_sweep(self) -> bool:
        """Whether to look for work of any kind. The elected one does so for all who poll."""
        if not self._engine.polls or self._more:
            return True
        elected = self._log.owners.elected()
        if elected and self._next_at is not None and self._next_at <= self._clock.now_ms():
            return True
        every = SWEEP_EVERY if elected else LOOK_EVERY
        return self._clock.monotonic() - self._swept_at >= every

    async def _sweep(self) -> None:
        if self._engine.polls and self._log.owners.elected():
            for session_id in await self._engine.heal():
                self._queue(session_id)
        found = await self._lookout.look(self._wanted)
        self._more, self._next_at = found.more, found.next_at
        for session_id in found.sessions:
            self._queue(session_id)

    async def _ripen(self) -> None:
        """Queue what was put off until now, unless its owner lives or the engine has a job."""
        ripe = self._backlog.ripe(self._clock.monotonic())
        if not ripe:
            return
        try:
            awaited = await self._engine.awaited(ripe)
            rows = await self._lookout.standing(list(ripe))
        except BaseException:
            for session_id, head in ripe.items():
                self._rest_at(session_id, head, failed=False)
            raise
        for session_id, head in ripe.items():
            owner = rows[session_id]["owner"] if session_id in rows else None
            if self._is_driven_by_another(owner):
                self._rest_at(session_id, head, failed=False, owner=owner)
            elif session_id in awaited:
                self._rest_at(session_id, head, failed=False)
            else:
                self._queue(session_id)

    async def _wanted(self, sessions: Sequence[str]) -> list[str]:
        """Those that have to be looked at."""
        known = (self._driving, self._strangers, self._backlog, self._jobs)
        fresh = [id for id in sessions if not any(id in those for those in known)]
        put_off = {id for id in fresh if self._backlog.is_put_off(id)}
        rows = await self._lookout.standing(fresh if self._engine.polls else list(put_off))
        return [id for id in fresh if self._is_wanted(rows.get(id), id, id in put_off)]

    def _is_wanted(self, row: Row | None, session_id: str, is_put_off: bool) -> bool:
        if row is not None and self._engine.polls and self._is_driven_by_another(row["owner"]):
            return False
        if not is_put_off:
            return True
        head = self._backlog.head_of(session_id)
        return row is not None and head is not None and row["position"] != head

    def _is_driven_by_another(self, owner: str | None) -> bool:
        return owner not in (None, self._log.owner) and self._log.owners.alive(str(owner))

    async def _rest(self) -> None:
        """Sleep until something changes or is due."""
        seconds = self._seconds_left()
        if self._changed.is_set() or seconds <= 0:
            await asyncio.sleep(0)
            return
        await wait_any(self._clock.sleep(seconds), self._changed.wait())

    def _seconds_left(self) -> float:
        elected = self._engine.polls and self._log.owners.elected()
        # Another process may be elected at any time.
        waits = [SWEEP_EVERY if self._engine.polls else LOOK_EVERY]
        if elected:
            waits.append(self._swept_at + SWEEP_EVERY - self._clock.monotonic())
        if self._next_at is not None and (elected or not self._engine.polls):
            waits.append((self._next_at - self._clock.now_ms()) / 1000)
        if (at := self._backlog.next_at()) is not None:
            waits.append(at - self._clock.monotonic())
        return min(waits)

    def _pump(self) -> None:
        """Drive as many sessions from the queue as possible."""
        while self._backlog and not self._stopping and self._has_room():
            session_id = self._backlog.take()
            self._driving[session_id] = asyncio.create_task(self._attend(session_id))

    def _has_room(self) -> bool:
        return len(self._driving) - min(self._idle, _MOST_IDLE) < self._concurrency

    def _idled(self, idle: bool) -> None:
        self._idle += 1 if idle else -1
        self._pump()

    async def _attend(self, session_id: str) -> None:
        try:
            row = await self._with_work(session_id)
            if row is not None:
                await self._get_driven(row)
        except (SessionOwned, OwnershipLost, WorkflowNotFound) as refused:
            await self._put_off(session_id, failed=False, owner=refused.context.get("owner"))
        except Exception as error:
            await self._excuse(session_id, error)
        finally:
            # In this order: what came too late for this drive is found by the next look.
            del self._driving[session_id]
            if session_id in self._again:
                self._again.discard(session_id)
                self._queue(session_id)
            self._changed.set()
            self._pump()

    async def _get_driven(self, row: Row) -> None:
        session_id, head = row["id"], row["position"]
        reached = await self._engine.wake(session_id, row["workflow"])
        if reached is None or reached == head:
            # A job comes later, or nothing was due after all: don't look again right away.
            self._rest_at(session_id, head, failed=False)
        else:
            self._backlog.forget(session_id)

    async def _with_work(self, session_id: str) -> Row | None:
        """The row of a session with work to do; None if there is nothing to do."""
        called = session_id in self._called
        self._called.discard(session_id)
        row = await self._lookout.row(session_id)
        if row is None:
            await self._log.slots.leave(session_id)
            await self._driver.expire(session_id)
        if row is None or row["stream_head"] is None or not self._engine.knows(row["workflow"]):
            self._strangers.add(session_id)
            self._backlog.forget(session_id)
            return None
        if row["ended"] or row["paused"] or await self._is_driven(row):
            await self._leave_alone(row)
        elif called or is_behind(row) or await self._lookout.is_due(session_id):
            return row
        else:
            self._backlog.forget(session_id)
        return None

    async def _is_driven(self, row: Row) -> bool:
        if row["owner"] in (None, self._log.owner):
            return row["owner"] is not None and self._driver.drives(row["id"])
        return not await self._log.owners.has_died(row["owner"])

    async def _leave_alone(self, row: Row) -> None:
        """Leave alone a session that has ended, is paused, or is driven by another process."""
        session_id, head = row["id"], row["position"]
        is_still = row["ended"] or row["paused"]
        if is_still and await self._driver.leave_queues(session_id, row["workflow"]):
            # Who resumed it meanwhile may have kept that place.
            self._called.add(session_id)
            self._again.add(session_id)
        if is_still and is_behind(row):
            await self._driver.settle(session_id, head)
        if row["ended"] or (row["paused"] and not await self._lookout.is_due(session_id)):
            self._backlog.forget(session_id)
        else:
            self._rest_at(session_id, head, failed=False, owner=row["owner"])

    async def _excuse(self, session_id: str, error: Exception) -> None:
        """Log why a session could not be driven, and try it again later."""
        failed = not isinstance(error, WorkflowNotFound)
        if failed:
            _tell(f"Session {session_id} could not be continued", error)
        await self._put_off(session_id, failed=failed)

    async def _put_off(self, session_id: str, *, failed: bool, owner: object | None = None) -> None:
        head: int | None = None
        try:
            head = await self._log.head(session_id)
        except CallboardError as error:
            _tell(f"Session {session_id} could not be checked", error)
        self._rest_at(session_id, head, failed=failed, owner=owner)

    def _rest_at(
        self, session_id: str, head: int | None, *, failed: bool, owner: object | None = None
    ) -> None:
        if not self._stopping:
            now, whose = self._clock.monotonic(), str(owner) if owner is not None else None
            self._backlog.put_off(session_id, head, now, failed=failed, owner=whose)


class WatchingDriver(Dispatcher):
    """Drives such sessions in this process. Any number of processes can do that for one log."""

    def __init__(
        self,
        driver: LocalDriver,
        log: EventLog,
        clock: Clock,
        concurrency: int = 64,
        manner: Manner | None = None,
    ) -> None:
        given = replace(manner or Manner(), parks=True, leaving=lambda: self._stopping)
        given = replace(given, slot_wait=SlotWait(idles=self._idled))
        super().__init__(LocalEngine(driver, given), driver, log, clock, concurrency)


def _tell(what: str, error: Exception) -> None:
    """Log an error; unexpected ones with their traceback."""
    _log.warning("%s: %s", what, error, exc_info=not isinstance(error, CallboardError))
