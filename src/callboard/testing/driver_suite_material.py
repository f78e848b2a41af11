"""What the driver suite works with: a log, servers in this process, and workers in their own."""

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from callboard.clock import SystemClock
from callboard.drivers.choice import Driven, choose_driver
from callboard.drivers.local import LocalDriver
from callboard.drivers.watching import Dispatcher
from callboard.engine.inbox import Inbox
from callboard.engine.operations import Operations
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.events.rows import Query
from callboard.log.protocol import EventLog
from callboard.testing import driver_suite_flow as flow

FLOW: Final = Path(flow.__file__)
PATIENCE: Final = 90.0
"""Seconds after which something that has to happen is taken for lost."""
MARGIN: Final = 2.0
"""Seconds that a busy machine with two cores may add to what a driver is allowed to take."""
_LOOK_AGAIN = 0.01


class SuiteServer:
    """What a server has: a handle on the log, a dispatcher, and no agents of its own."""

    def __init__(self, log: EventLog, workflows: Sequence[Workflow]) -> None:
        clock = SystemClock()
        known = {one.name: one for one in workflows}
        self.log = log
        self.clock = clock
        self.answered: dict[str, float] = {}
        """When each session was last answered here, by the clock that never goes back."""
        self.operations = Operations(log, clock)
        self.inbox = Inbox(log, clock)
        self.driven = Driven(log, LocalDriver(log, known, clock), known, clock)

    async def start(self, workflow: Workflow, count: int, prefix: str = "s") -> list[str]:
        """Start sessions, and leave them to a driver."""
        sessions = [f"{prefix}{number}" for number in range(count)]
        start = self.operations.start
        await asyncio.gather(*(start(workflow, session_id=one) for one in sessions))
        return sessions

    async def answer_all(self, session: str = "*") -> int:
        """Answer every open question, or those of a session; returns how many there were."""
        open_now = await self.inbox.find(status="pending", session_id=session)
        for question in open_now:
            await self.operations.answer(question.id, "yes", by="ada")
            self.answered[str(question.session_id)] = self.clock.monotonic()
        return len(open_now)

    async def count(self, status: str) -> int:
        """How many sessions have this status."""
        return (await self.log.session_counts()).get(status, 0)


class Fleet(ABC):
    """The driver under test. Subclass it, and return one from the fixture `fleet`.

    folder: an empty folder, where agents write what they did.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hold = folder / "hold"
        self.has_own_server = False
        """Whether the log can be used while the engine is away. Set it if that is so."""
        self.frozen_after = 15.0
        """Seconds until a worker that hangs is replaced. One test sets it before it opens anything;
        without effect on your log and your worker, it only takes longer."""
        os.environ[flow.FOLDER] = str(folder)

    @abstractmethod
    def open_log(self) -> EventLog:
        """Open another handle on the log, as another process would."""

    @abstractmethod
    def driver(self, driven: Driven, *, works: bool) -> Dispatcher:
        """A dispatcher in this process: of a worker, or of a server that only wakes sessions."""

    @abstractmethod
    def command(self, *options: str) -> Sequence[str]:
        """The command of a worker that drives the workflows of the file FLOW.

        It prints a line when it is ready. `options` may be `--grace SECONDS`.
        """

    @abstractmethod
    async def jobs(self) -> int:
        """How many jobs the engine has, queued or running."""

    @abstractmethod
    def outage(self) -> AbstractAsyncContextManager[None]:
        """The engine is away."""

    @abstractmethod
    def log_outage(self) -> AbstractAsyncContextManager[None]:
        """The log is away. If the engine is in the same database, it is away, too."""

    def other_driver(self, driven: Driven) -> Dispatcher:
        """A worker in this process that has another engine on the same log."""
        return choose_driver("local", driven, 16, works=True)

    @asynccontextmanager
    async def worker(self, *options: str, **environment: str) -> AsyncGenerator[Process]:
        """A worker in a process of its own, which is dead at the end."""
        process = await asyncio.create_subprocess_exec(
            *self.command(*options), stdout=PIPE, env={**os.environ, **environment}
        )
        assert process.stdout is not None
        reading: asyncio.Task[bytes] | None = None
        try:
            async with asyncio.timeout(PATIENCE):
                assert await process.stdout.readline(), "the worker ended at once"
            # An engine may print a lot, and waits until it is read.
            reading = asyncio.create_task(process.stdout.read())
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            if reading is not None:
                await reading

    @asynccontextmanager
    async def server(self, *workflows: Workflow) -> AsyncGenerator[SuiteServer]:
        """A server in this process, which only wakes sessions."""
        async with self._running(workflows, partial(self.driver, works=False)) as server:
            yield server

    @asynccontextmanager
    async def beside(self) -> AsyncGenerator[SuiteServer]:
        """A server in this process that has another engine, and drives sessions with it."""
        async with self._running((), self.other_driver) as server:
            yield server

    @asynccontextmanager
    async def without_engine(self, *workflows: Workflow) -> AsyncGenerator[SuiteServer]:
        """A server in this process that drives sessions itself."""
        drives = partial(choose_driver, "local", concurrency=16, works=True)
        async with self._running(workflows, drives) as server:
            yield server

    @asynccontextmanager
    async def onlooker(self) -> AsyncGenerator[SuiteServer]:
        """A process that reads and writes, and leaves it to others to find out about it."""
        log = self.open_log()
        try:
            yield SuiteServer(log, (flow.reviewed,))
        finally:
            await log.close()

    @asynccontextmanager
    async def _running(
        self, workflows: Sequence[Workflow], choose: Callable[[Driven], Dispatcher]
    ) -> AsyncGenerator[SuiteServer]:
        log = self.open_log()
        server = SuiteServer(log, workflows or (flow.reviewed,))
        driver = choose(server.driven)
        await driver.start()
        try:
            yield server
        finally:
            await driver.stop(0)
            await log.close()

    def lines(self, word: str | None = None, worker: str | None = None) -> list[str]:
        """What agents wrote that starts with this word, and what those of one worker wrote."""
        found = [line for _, line in self._written() if word in (None, line.split()[0])]
        return [line for line in found if worker in (None, line.split()[-1])]

    def moments(self, word: str, phase: str | None = None) -> dict[str, float]:
        """When an agent of each session, in this phase, last wrote a line that starts with this.

        By the clock that never goes back, which the processes of a machine have in common.
        """
        found: dict[str, float] = {}
        for when, line in self._written():
            one, key, *_ = line.split()
            session, _, run = key.partition(":")
            if one == word and phase in (None, run.partition("#")[0]):
                found[session] = float(when)
        return found

    def _written(self) -> list[tuple[str, str]]:
        file = self.folder / "effects"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(when, rest) for when, _, rest in (line.partition(" ") for line in lines)]

    async def ran(self, count: int) -> None:
        """Wait until so many agents have started."""
        await until(lambda: len(self.lines("ran")) >= count)


async def until(is_true: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait for something that has to happen."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = is_true()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(_LOOK_AGAIN)


async def stands(server: SuiteServer, status: str, count: int) -> None:
    """Wait until so many sessions have this status."""

    async def is_so() -> bool:
        return await server.count(status) == count

    await until(is_so)


async def reasons(server: SuiteServer, sessions: Sequence[str]) -> Counter[str]:
    """Why agents were interrupted."""
    found: Counter[str] = Counter()
    for session in sessions:
        events = await server.log.read(session)
        found.update(one["reason"] for one in names.AGENT_INTERRUPTED.among(events))
    return found


async def check_ended(server: SuiteServer, sessions: Sequence[str]) -> None:
    """Every session has completed, and nothing that was completed ran again."""
    for session in sessions:
        events = await server.log.read(session)
        assert events[-1].name == names.COMPLETED, f"{session} ends with {events[-1].name}"
        _check_runs(events)

    async def is_settled() -> bool:
        return await server.log.unsettled() == []

    await until(is_settled)


def _check_runs(events: Sequence[Event]) -> None:
    completed: set[str] = set()
    for event in events:
        run = as_text(event.payload.get("run"))
        assert event.name != names.AGENT_STARTED or run not in completed, f"{run} ran again"
        if event.name == names.AGENT_COMPLETED:
            assert run not in completed, f"{run} was completed twice"
            completed.add(run)


async def rows_of(server: SuiteServer, session: str) -> dict[str, object]:
    """The row of a session."""
    [row] = await server.log.rows(Query("sessions", {"id": session}))
    return row


async def complete(server: SuiteServer, count: int) -> None:
    """Wait for so many questions, answer them, and wait for the end of their sessions."""
    await stands(server, "waiting", count)
    await server.answer_all()
    await stands(server, "completed", count)


async def has_no_jobs(fleet: Fleet) -> bool:
    """Whether the engine has nothing to do."""
    return await fleet.jobs() == 0


def named(worker: str) -> dict[str, str]:
    """The environment of a worker whose agents write this name."""
    return {flow.WORKER: worker}


def versioned(version: flow.Version) -> dict[str, str]:
    """The environment of a worker with this version of the workflows that have several."""
    return {flow.VERSION: version}


def freeze(process: Process) -> None:
    """Stop a process, as a machine that hangs would."""
    process.send_signal(signal.SIGSTOP)


def thaw(process: Process) -> None:
    """Let a frozen process continue."""
    process.send_signal(signal.SIGCONT)
