"""A session that this program runs: something to await, to pause, to resume and to abort."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from callboard.clock import Clock
from callboard.drivers.local import LocalDriver, Manner
from callboard.engine.observing import Observation
from callboard.engine.operations import Operations, begin
from callboard.engine.ports import HumanInput
from callboard.engine.runner import LINGER
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.status import Status
from callboard.log.protocol import EventLog
from callboard.state.session import SessionView

# With nobody in this process to answer, an agent's questions only have to be written down;
# this leaves it the time to ask several at once.
_NOBODY_HERE = 0.05


@dataclass(frozen=True, slots=True)
class Result:
    """How a run stopped: ended, paused, or waiting for a person."""

    state: Any
    session_id: str
    status: Status
    exit_phase: str | None
    events: list[Event]
    duration: float
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """What an execution works with."""

    log: EventLog
    driver: LocalDriver
    operations: Operations
    clock: Clock
    close: Callable[[], Awaitable[None]] | None = None
    """Called when the session has ended; None when the log belongs to somebody else."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The session that an execution begins."""

    workflow: Workflow
    session_id: str
    input: Any
    source: Mapping[str, str] | None = None


class Execution:
    """Awaiting it gives a Result as soon as the session stops moving.

    That is when it has ended, or is paused, or waits for a person whom nobody here can ask.
    After `resume()` it can be awaited again. Awaiting never raises for the workflow's own end:
    look at `status` and `error`.
    """

    def __init__(
        self,
        running: Running,
        starting: Starting,
        *,
        people: HumanInput | None,
        observation: Observation,
    ) -> None:
        self.session_id = starting.session_id
        self._running = running
        self._workflow = starting.workflow
        self._prelude = begin(starting.workflow, starting.input, starting.source)
        self._observation = observation
        self._events: list[Event] = []
        self._begun = asyncio.Event()
        linger = LINGER if people else _NOBODY_HERE
        self._manner = Manner(people=people, linger=linger, listener=self._hear)
        self._task: asyncio.Task[Result] | None = None
        with suppress(RuntimeError):  # Without a running loop it starts when awaited.
            asyncio.get_running_loop()
            self._start(self._run(first=True))

    def _start(self, run: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        self._task = asyncio.create_task(run)
        return self._task

    def __await__(self) -> Generator[Any, None, Result]:
        return (self._task or self._start(self._run(first=True))).__await__()

    def pause(self, *, interrupt: bool = False) -> asyncio.Future[bool]:
        """Pause: the current agent finishes first, unless it is to be interrupted."""
        return asyncio.ensure_future(self._pause(interrupt))

    async def _pause(self, interrupt: bool) -> bool:
        await self._begun.wait()
        return await self._running.operations.pause(self.session_id, interrupt=interrupt)

    def resume(self) -> asyncio.Future[bool]:
        """Go on after a pause."""
        return asyncio.ensure_future(self._resume())

    async def _resume(self) -> bool:
        await self._begun.wait()
        resumed = await self._running.operations.resume(self.session_id)
        if self._task is not None and self._task.done():
            self._start(self._run(first=False))
        return resumed

    def abort(self, reason: str | None = None) -> asyncio.Future[bool]:
        """End the session: its status becomes `cancelled`."""
        return asyncio.ensure_future(self._abort(reason))

    async def _abort(self, reason: str | None) -> bool:
        await self._begun.wait()
        return await self._running.operations.cancel(self.session_id, reason=reason)

    def _hear(self, events: list[Event]) -> None:
        self._begun.set()
        self._events += events
        if self._observation.wanted:
            self._observation.tell(events)

    async def _run(self, *, first: bool) -> Result:
        running, began = self._running, self._running.clock.monotonic()
        try:
            if first:
                view = await running.driver.begin(
                    self._workflow, self.session_id, self._prelude, self._manner
                )
            else:
                view = await running.driver.drive(self.session_id, self._manner)
            result = await self._result(view, running.clock.monotonic() - began)
        except BaseException:
            self._begun.set()
            await self._close()
            raise
        await self._observation.finish()
        if view.ended:
            await self._close()
        return result

    async def _close(self) -> None:
        if self._running.close is not None:
            await self._running.close()

    async def _result(self, view: SessionView, duration: float) -> Result:
        events = self._events
        if len(events) != view.position:  # Others wrote while nobody here was driving.
            events = self._events = await self._running.log.read(self.session_id)
        return Result(
            state=self._workflow.state_type.load(view.state),
            session_id=self.session_id,
            status=view.status,
            exit_phase=view.exit_phase,
            events=with_final_state(events, view.state),
            duration=duration,
            error=view.error,
        )


def with_final_state(events: list[Event], state: Any) -> list[Event]:
    """The events as they are served: the end of a workflow tells its state, which is not stored."""
    if not events or events[-1].name != names.COMPLETED:
        return list(events)
    last = events[-1]
    return [*events[:-1], replace(last, payload={**last.payload, "finalState": state})]
