"""Drives one session until it waits, pauses or ends: fold, decide, act.

It also listens while an agent runs: a pause, a cancellation or an answer may come from any process
at any time.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import islice, takewhile

from callboard.engine import decide as d
from callboard.engine.attempt import Done, Interrupted, Outcome, RunDesk, record
from callboard.engine.context import RunPlace
from callboard.engine.handler_questions import questions_of
from callboard.engine.live import LiveSession
from callboard.engine.perform import interrupt, perform, start
from callboard.engine.phase import Timeout
from callboard.engine.ports import HumanInput
from callboard.engine.scene import Scene
from callboard.engine.slots import STAYING, DriveSlots, SlotWait
from callboard.engine.warm import WarmSession
from callboard.errors import CallboardError, OwnershipLost, Unwound, WorkflowNotFound
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.payloads.agents import Interruption
from callboard.state.session import SessionView
from callboard.waiting import to_the_end, wait_any

LINGER = 30.0
"""How many seconds an agent that waits for a person stays in memory."""

NOBODY_HERE = 0.05
"""The same if no one here will answer: just long enough to ask several questions at once."""

# Phases that loop without an agent or a question must not block everything else.
_LARGEST = 1000

_log = logging.getLogger(__name__)


class Drive:
    """One drive of one session, by one owner."""

    def __init__(
        self,
        live: LiveSession,
        *,
        people: HumanInput | None = None,
        linger: float = LINGER,
        parks: bool = False,
        leaving: Callable[[], bool] = lambda: False,
        slot_wait: SlotWait = STAYING,
    ) -> None:
        """Prepare a drive; `run` starts it.

        Args:
            live: the session.
            people: answers questions in this process.
            linger: how many seconds an agent that waits for a person stays in memory.
            parks: release the session while it only waits for its next attempt, because someone
                else watches for due retries.
            leaving: whether to start no more agents, and release the session when those that run
                have finished.
            slot_wait: what to do when nothing happens until there is a slot for an agent.
        """
        self._live = live
        self._people = questions_of(live, people, self.nudge)
        self._linger = linger
        self._parks = parks
        self._leaving = leaving
        self.slots = DriveSlots(live.log, live.session_id, self._slot_granted, slot_wait)
        self._declined = False
        self._unknown_phase: str | None = None
        self._lost_phases: set[str] = set()
        self._prelude: Callable[[Scene], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._wake_at: int | None = None
        self._starting: list[RunPlace] = []
        self._desks: dict[str, RunDesk] = {}
        self._waiting: dict[str, RunDesk] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._finished: dict[str, Outcome] = {}
        self._handled: list[str] = []
        self._error: BaseException | None = None
        self._attend = self._news = self._more = False
        live.listeners.append(self._notice)

    async def run(
        self, prelude: Callable[[Scene], None] | None = None, warm: WarmSession | None = None
    ) -> SessionView:
        """Drive until there is nothing to do.

        `prelude` starts a new session; `warm` is an existing one, as the last drive here left it.
        """
        self._prelude = prelude
        undo = self._live.log.on_change(self._live.session_id, self._hear)
        try:
            if prelude is None:
                await self._live.take_up(warm)
            while await self._turn():
                pass
        except OwnershipLost:
            if not await self._ended_by_others():
                raise
        finally:
            undo()
            await self._put_down()
        return self._live.view

    async def _ended_by_others(self) -> bool:
        """Whether the lease was lost because someone ended or paused the session."""
        self._live.epoch = None
        await self._live.take_up()
        return self._live.view.ended is not None or self._live.view.paused

    async def _turn(self) -> bool:
        """Commit what there is to decide, act on it, and sleep until something happens."""
        await self._live.commit(self._build, settle=self._is_over)
        self._prelude = None
        if error := self._error or self._people.error:
            raise error
        if self._unknown_phase is not None:
            await self._find_phase(self._unknown_phase)
            return True
        over = self._live.epoch is None and not self._starting and not self._is_held_back
        self._act()
        if (over or self._leaving()) and not self._tasks and not self._people.asked:
            return False
        if self._more:
            await self._live.catch_up()
        else:
            await self._until_needed()
        return True

    async def _find_phase(self, phase: str) -> None:
        """Leave the session to another process if one has this phase; it is lost if none has."""
        name, log = self._live.workflow.name, self._live.log
        for other in await log.owners.list():
            if other.id != log.owner and other.knows(name, phase):
                raise WorkflowNotFound(
                    f"The version of workflow {name!r} that is registered here has no phase "
                    f"{phase!r}. Process {other.pid} on {other.host} has it, and continues.",
                    workflow=name,
                    phase=phase,
                    engine_worker=other.described.engine_worker,
                )
        self._lost_phases.add(phase)

    async def _until_needed(self) -> None:
        """Sleep until there is something to do."""
        due = False
        while not due:
            self._wake.clear()
            news, self._news = self._news, False
            if news and await self._live.catch_up():
                break
            if self._finished or self._attend or self._error:
                break
            due = await self._sleep()
        self._attend = False

    def _hear(self, head: int | None) -> None:
        """The stream has grown; what this drive wrote itself is not news."""
        if self._live.log.is_cut_off:
            # Another process may drive the session soon, and would start these agents again.
            self._stop_agents("stopped")
        elif self._is_held_back:
            self.nudge()
        if head is None or head > self._live.view.position:
            self._news = True
            self._wake.set()

    def _notice(self, events: list[Event]) -> None:
        """An agent's question has to go to people, even if this process wrote the event."""
        if any(event.name == names.REQUESTED for event in events):
            self.nudge()

    def _slot_granted(self, error: BaseException | None) -> None:
        self._error = self._error or error
        self.nudge()

    def nudge(self) -> None:
        """Check again whether to leave, and what there is to do."""
        self._attend = True
        self._wake.set()

    def _build(self, scene: Scene) -> None:
        """All events up to the next effect or wait."""
        if self._prelude is not None:
            self._prelude(scene)
        self._starting, self._wake_at, self._more = [], None, False
        self._declined, self._unknown_phase = False, None
        self.slots.forget()
        # An agent that finishes during the commit is handled in the next turn.
        self._handled = list(self._finished)
        view = scene.batch.view
        if view.ended:
            self._tell_dropped(view)
            return
        running = view.open.running
        for run in [run for run in running if run not in self._tasks]:
            interrupt(scene, run, "crashed")
        for run, outcome in self._finished.items():
            if run in running:
                record(scene, run, outcome)
        self._decide(scene)

    def _tell_dropped(self, view: SessionView) -> None:
        for run, outcome in self._finished.items():
            if isinstance(outcome, Done):
                _log.info("Session %s had ended; output of %s dropped", view.session_id, run)

    def _decide(self, scene: Scene) -> None:
        workflow, batch = scene.workflow, scene.batch
        for decision in d.foresee(workflow, batch.view):
            if not self._follow(scene, decision):
                return
        while len(batch.events) < _LARGEST:
            if not self._follow(scene, d.decide(workflow, batch.view, batch.now)):
                return
        self._more = True

    def _follow(self, scene: Scene, decision: d.Decision) -> bool:
        """Add a decision's events to the batch; False if there is nothing more to decide."""
        if isinstance(decision, d.Start):
            if self._leaving() or self._live.log.is_cut_off:
                self._declined = True
                return False
            limit, runs = scene.step.phase.limit, decision.runs
            if limit is not None and not (runs := self.slots.ready(limit, runs)):
                self._wake_at = d.next_wake_after(scene.batch.view, scene.batch.now)
                return False
            self._starting += [self._place(scene, run) for run in runs]
            return True
        if isinstance(decision, d.Hold) and decision.phase not in self._lost_phases:
            # A newer or older version may know it.
            self._unknown_phase, self._declined = decision.phase, True
            return False
        if isinstance(decision, d.Enter):
            self._live.checkpoint(scene.batch)
        if perform(scene, decision):
            return True
        self._wake_at = decision.until if isinstance(decision, d.Wait) else None
        return False

    @property
    def _is_held_back(self) -> bool:
        """Whether agents are to start as soon as the log can be reached again."""
        return self._declined and not self._leaving()

    def _place(self, scene: Scene, run: str) -> RunPlace:
        attempt = start(scene, run)
        visit = scene.visit
        index = visit.item_of(run)
        item = visit.items[index] if visit.items is not None and index is not None else None
        return RunPlace(
            session_id=self._live.session_id,
            workflow=scene.workflow.name,
            phase=visit.phase,
            visit=visit.number,
            run=run,
            attempt=attempt,
            item=item,
            item_index=index,
        )

    def _is_over(self) -> bool:
        """Whether this drive has nothing left to do, so that the lease can be released."""
        view = self._live.view
        if view.ended or view.paused:
            return True
        if self._more or self._starting or self.slots or len(self._tasks) > len(self._finished):
            return False
        if self._declined or self._people.will_answer(view):
            return False
        return view.held is not None or self._parks or not view.open.retries

    def _act(self) -> None:
        """Act on what was committed: start agents, stop them, ask people."""
        view = self._live.view
        for run in self._handled:
            self._finished.pop(run)
            self._tasks.pop(run, None)
            self._desks.pop(run, None)
        for place in self._starting:
            self._launch(place)
        self.slots.request(busy=bool(self._tasks))
        if view.ended or self._live.log.is_cut_off:
            self._stop_agents("stopped")
        elif view.pausing is not None:
            self._pause(interrupt=bool(view.pausing.get("interrupt")))
        self._people.ask(view)
        self._unwind_idle()

    def _launch(self, place: RunPlace) -> None:
        step = self._live.workflow.steps[place.phase]
        assert step.agent is not None
        slot = self.slots.pop(place.run)
        desk = RunDesk(self._live, step.agent, place, self._waiting, self._wake.set, slot)
        self._desks[place.run] = desk
        self._tasks[place.run] = task = self._loop.create_task(self._work(desk, step.phase.timeout))
        task.add_done_callback(lambda task: self._end(desk, task))

    async def _work(self, desk: RunDesk, timeout: Timeout) -> None:
        try:
            self._finished[desk.place.run] = await desk.work(timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._error = error

    def _end(self, desk: RunDesk, task: asyncio.Task[None]) -> None:
        # Not in the task itself, which may be cancelled before it has started.
        if task.cancelled() and desk.stopping is not None:
            self._finished[desk.place.run] = Interrupted(desk.stopping)
        desk.end()
        self._wake.set()

    def _pause(self, *, interrupt: bool) -> None:
        """Let agents finish, unless they are to be interrupted or only wait for a person."""
        if interrupt:
            self._stop_agents("paused")
            return
        for desk in self._waiting.values():
            desk.stopping = "paused"
            self._live.unwind(set(desk.waiting_for), Unwound())

    def _stop_agents(self, reason: Interruption) -> None:
        for run, desk in self._desks.items():
            if desk.stopping is None:
                desk.stopping = reason
                self._tasks[run].cancel()

    def _unwind_idle(self) -> None:
        """Unwind agents that have waited for a person long enough."""
        if not self._waiting:
            return
        now = self._live.clock.monotonic()

        def is_over(desk: RunDesk) -> bool:
            return self._expires_at(desk, now + 1) <= now

        waiting = self._waiting.values()
        # If no one can be asked, those that have waited longest go first.
        for desk in list((filter if self._people.can_ask else takewhile)(is_over, waiting)):
            self._live.unwind(set(desk.waiting_for), Unwound())

    def _expires_at(self, desk: RunDesk, otherwise: float) -> float:
        if desk.waiting_since is None or not desk.waiting_for.isdisjoint(self._people.asked):
            return otherwise
        if self._leaving():
            return desk.waiting_since
        given_up = desk.waiting_for <= self._people.declined
        return desk.waiting_since + (min(self._linger, NOBODY_HERE) if given_up else self._linger)

    async def _sleep(self) -> bool:
        """Sleep until woken, or until something is due; returns whether something is due."""
        seconds = self._seconds_left()
        if seconds is None:
            await self._wake.wait()
            return False
        return await wait_any(self._live.clock.sleep(seconds), self._wake.wait()) == 0

    def _seconds_left(self) -> float | None:
        clock, waiting = self._live.clock, self._waiting.values()
        if self._wake_at is None and not waiting:
            return None
        idle = waiting if self._people.can_ask else islice(waiting, 1)
        waits = [] if self._wake_at is None else [(self._wake_at - clock.now_ms()) / 1000]
        now, never = clock.monotonic(), float("inf")
        waits += [self._expires_at(desk, never) - now for desk in idle]
        soonest = min(waits, default=never)
        return None if soonest == never else max(soonest, 0.0)

    async def _put_down(self) -> None:
        """Stop whatever still runs, and release the lease if the session is not settled."""
        self.slots.close()
        for task in self._tasks.values():
            task.cancel()
        stopping = [*self._tasks.values(), *self._people.leave()]
        if stopping or self._live.epoch is not None:
            with suppress(CallboardError):
                await to_the_end(self._let_go(stopping))

    async def _let_go(self, stopping: list[asyncio.Task[None]]) -> None:
        """Record that the session was released, unlike one whose process died."""
        await asyncio.gather(*stopping, return_exceptions=True)
        if self._live.epoch is not None:
            await self._live.commit(_put_off)
            await self._live.release()


def _put_off(scene: Scene) -> None:
    if not scene.batch.view.ended:
        for run in scene.batch.view.in_flight():
            interrupt(scene, run, "stopped")
