"""A driver that stays: what wakes it, what it leaves alone, and how it stops."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.laws import check_laws

from callboard import Approval, Callboard, Context, Phase, Retry, State, Workflow, agent
from callboard.drivers.local import LocalDriver, Manner
from callboard.drivers.watching import WatchingDriver
from callboard.log.memory import Memory, MemoryLog
from callboard.log.protocol import EventLog
from callboard.log.sqlite import SqliteLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock

Handle = Callable[[], EventLog]


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


class Stage:
    """Agents that work until they are told, and what became of them."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = 0
        self.most = 0
        self.calls: Counter[str] = Counter()
        self.failures = 0

    def workflows(self) -> list[Workflow]:
        @agent
        async def work(state: Notes, ctx: Context) -> str:
            self.calls[ctx.phase] += 1
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await asyncio.sleep(0)
                await self.gate.wait()
            finally:
                self.running -= 1
            return ctx.phase

        @agent
        async def fragile(state: Notes, ctx: Context) -> str:
            self.calls[ctx.phase] += 1
            if self.failures:
                self.failures -= 1
                raise ConnectionError("not yet")
            return ctx.phase

        @agent
        async def asking(state: Notes, ctx: Context) -> bool:
            self.calls[ctx.phase] += 1
            return await ctx.ask("Sure?")

        return [
            Workflow(
                "review",
                state=Notes,
                phases=[
                    Phase("draft", agent=work, update=note, next="ask"),
                    Phase("ask", human=Approval("Send?"), next="send"),
                    Phase("send", agent=work, update=note, terminal=True),
                ],
            ),
            Workflow(
                "deadline",
                state=Notes,
                phases=[
                    Phase("ask", human=Approval("Quick?", 60, on_timeout="approve"), next="end"),
                    Phase("end", agent=work, update=note, terminal=True),
                ],
            ),
            Workflow(
                "retry",
                state=Notes,
                phases=[
                    Phase(
                        "try", agent=fragile, update=note, retry=Retry(5, backoff=60), terminal=True
                    ),
                ],
            ),
            Workflow("asking", state=Notes, phases=[Phase("pay", agent=asking, terminal=True)]),
        ]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def handle(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[Handle]:
    """Opens handles on one log, as several processes would."""
    memory = Memory()
    opened: list[EventLog] = []

    def make() -> EventLog:
        if request.param == "memory":
            opened.append(MemoryLog(project, clock, memory))
        else:
            opened.append(SqliteLog.open(tmp_path / "log.db", project, clock))
        return opened[-1]

    yield make
    for log in opened:
        await log.close()


class Watched:
    """One handle with a driver that watches, and one of somebody else's."""

    def __init__(self, handle: Handle, clock: FakeClock, concurrency: int = 64) -> None:
        self.clock = clock
        self.stage = Stage()
        self.handle = handle
        self.concurrency = concurrency
        self.board = Callboard(handle(), self.stage.workflows(), clock)
        self.other = Callboard(handle(), self.stage.workflows(), clock)
        self.driver = self.another(self.board)
        self.drivers = [self.driver]

    def another(self, board: Callboard, manner: Manner | None = None) -> WatchingDriver:
        return WatchingDriver(board.driver, board.log, self.clock, self.concurrency, manner)

    async def begin(self, *sessions: str, workflow: str = "review") -> None:
        for session in sessions:
            await self.other.start(workflow, session_id=session)

    async def status(self, session: str) -> str:
        return (await self.other.session(session)).status

    async def until(self, *sessions: str, status: str) -> None:
        """Wait until all of them stand like this; the clock of the driver stands still."""
        async with asyncio.timeout(20):
            while {await self.status(session) for session in sessions} != {status}:
                await asyncio.sleep(0.001)

    async def until_idle(self) -> None:
        async with asyncio.timeout(20):
            while self.driver.driving or self.driver.queued:
                await asyncio.sleep(0.001)

    async def answer(self, *sessions: str) -> None:
        for session in sessions:
            [question] = await self.other.inbox(session)
            await self.other.answer(question.id, "yes")

    async def check(self, *sessions: str) -> None:
        for session in sessions:
            check_laws(await self.other.log.read(session))


@pytest.fixture
async def watched(handle: Handle, clock: FakeClock) -> AsyncIterator[Watched]:
    given = Watched(handle, clock)
    yield given
    for driver in given.drivers:
        await driver.stop(0)


async def test_what_was_left_is_taken_up_at_the_start(watched: Watched):
    await watched.begin("a", "b")
    assert watched.driver.driving == watched.driver.queued == 0
    await watched.driver.start()
    await watched.until("a", "b", status="waiting")


async def test_sessions_that_others_begin_are_driven(watched: Watched):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    await watched.until_idle()


async def test_an_answer_from_elsewhere_wakes_a_session(watched: Watched):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    await watched.answer("a")
    await watched.until("a", status="completed")
    await watched.check("a")
    assert watched.stage.calls == {"draft": 1, "send": 1}


async def test_a_waiting_session_holds_nothing(watched: Watched):
    sessions = [f"s{number}" for number in range(20)]
    await watched.driver.start()
    before = len(asyncio.all_tasks())
    await watched.begin(*sessions)
    await watched.until(*sessions, status="waiting")
    await watched.until_idle()
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) <= before + 2  # What looks at the log may be at it.
    assert [
        await watched.board.log.lease(s)
        for s in sessions
        if (await watched.board.log.lease(s)).owner
    ] == []
