"""A session that this program runs: await it, pause it, resume it or cancel it."""

import asyncio
import typing
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Mapping,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from callboard.clock import Clock
from callboard.drivers.local import LocalDriver, Manner
from callboard.engine.current_execution import waiting_elsewhere
from callboard.engine.observers import Observation
from callboard.engine.operations import Operations, begin
from callboard.engine.ports import HumanInput
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.failures import ErrorDescription
from callboard.events.status import Status
from callboard.log.protocol import EventLog
from callboard.state.session import SessionView


@dataclass(frozen=True, slots=True)
class Result:
    """How a run stopped: ended, paused, or waiting for a person."""

    state: typing.Any
    session_id: str
    status: Status
    exit_phase: str | None
    events: list[Event]
    duration: float
    error: ErrorDescription | None = None


@dataclass(frozen=True, slots=True)
class Runtime:
    """What an execution needs to run."""

    log: EventLog
    driver: LocalDriver
    operations: Operations
    clock: Clock
    connect: Callable[[], Awaitable[None]]
    """Connect to the log's server, if it has one."""
    close: Callable[[], Awaitable[None]]
    """Close the log; does nothing if the log belongs to someone else."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The session that an execution starts."""

    workflow: Workflow
    session_id: str
    input: object
    source: Mapping[str, str] | None = None
    title: str | None = None


class Execution:
    """A running session. Await it to get a Result when the session stops.

    It stops when it ends, pauses, or waits for a person who can't be asked here. After `resume()`,
    it can be awaited again. Awaiting it doesn't raise if the workflow fails: check `status` and
    `error`.

    open_log: returns what the execution needs to run; called again after it was closed.
    """

    def __init__(
        self,
        open_log: Callable[[], Runtime],
        starting: Starting,
        *,
        people: HumanInput | None,
        observation: Observation,
    ) -> None:
        self.session_id = starting.session_id
        self._open = open_log
        self._running: Runtime | None = None
        self._users = 0
        self._workflow = starting.workflow
        self._source = starting.source
        self._prelude = begin(
            starting.workflow, starting.input, starting.source, title=starting.title
        )
        self._observation = observation
        self._events: list[Event] = []
        self._begun = asyncio.Event()
        self._manner = Manner(people=people, listener=self._hear)
        self._task: asyncio.Task[Result] | None = None
        with suppress(RuntimeError):  # Without a running event loop, it starts when it is awaited.
            asyncio.get_running_loop()
            self._start(self._run(first=True))

    def _start(self, run: Coroutine[object, None, Result]) -> asyncio.Task[Result]:
        self._task = asyncio.create_task(run)
        return self._task

    def __await__(self) -> Generator[object, None, Result]:
        return self._finished(self._task or self._start(self._run(first=True))).__await__()

    async def _finished(self, running: asyncio.Task[Result]) -> Result:
        async with waiting_elsewhere():
            return await running

    def pause(self, *, interrupt: bool = False) -> asyncio.Future[bool]:
        """Pause once the current agent has finished; with `interrupt`, stop it right away."""
        return self._do(lambda does: does.pause(self.session_id, interrupt=interrupt))

    def resume(self) -> asyncio.Future[bool]:
        """Resume the session after a pause."""
        return self._do(self._resume)

    async def _resume(self, operations: Operations) -> bool:
        resumed = await operations.resume(self.session_id)
        if self._task is not None and self._task.done():
            self._start(self._run(first=False))
        elif self._task is not None and resumed:
            self._start(self._go_on(self._task))
        return resumed

    async def _go_on(self, before: asyncio.Task[Result]) -> Result:
        """Drive again, unless the previous drive is still running and noticed the resume itself."""
        await asyncio.wait({before})
        result = before.result()
        return await self._run(first=False) if result.status == "paused" else result

    def abort(self, reason: str | None = None) -> asyncio.Future[bool]:
        """Cancel the session: its status becomes `cancelled`."""
        return self._do(lambda does: does.cancel(self.session_id, reason=reason))

    def _do(self, command: Callable[[Operations], Awaitable[bool]]) -> asyncio.Future[bool]:
        async def done() -> bool:
            async with self._using() as running:
                await self._begun.wait()
                return await command(running.operations)

        return asyncio.ensure_future(done())

    @asynccontextmanager
    async def _using(self) -> AsyncGenerator[Runtime]:
        """Keep the log open while it is needed: a waiting session doesn't hold a file open."""
        self._running = self._running or self._open()
        self._users += 1
        try:
            await self._running.connect()
            yield self._running
        finally:
            self._users -= 1
            if not self._users:
                running, self._running = self._running, None
                await running.close()

    def _hear(self, events: list[Event]) -> None:
        self._begun.set()
        self._events += events
        if self._observation.wanted:
            self._observation.tell(events)

    async def _run(self, *, first: bool) -> Result:
        try:
            async with self._using() as running:
                began = running.clock.monotonic()
                view = await self._drive(running, first)
                result = await self._result(running, view, running.clock.monotonic() - began)
        finally:
            self._begun.set()
            await self._observation.finish()
        return result

    async def _drive(self, running: Runtime, first: bool) -> SessionView:
        if not first:
            return await running.driver.drive(self.session_id, self._manner)
        starting = (self._workflow, self.session_id, self._prelude)
        return await running.driver.begin(*starting, self._manner, self._source)

    async def _result(self, running: Runtime, view: SessionView, duration: float) -> Result:
        events = self._events
        if len(events) != view.position:  # Other processes wrote while this one was not driving.
            events = self._events = await running.log.read(self.session_id)
        return Result(
            state=self._workflow.state_type.read(view.state),
            session_id=self.session_id,
            status=view.status,
            exit_phase=view.exit_phase,
            events=with_final_state(events, view.state),
            duration=duration,
            error=view.error,
        )


def with_final_state(events: list[Event], state: object) -> list[Event]:
    """Add the final state to the end of a workflow, where the API has it but the log does not."""
    if not events or events[-1].name != names.COMPLETED:
        return list(events)
    last = events[-1]
    return [*events[:-1], last._replace(payload={**last.payload, "finalState": state})]
