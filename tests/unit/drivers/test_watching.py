"""A driver that stays: what wakes it, what it leaves alone, and how it stops."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.laws import check_laws

from callboard import Approval, Callboard, Context, Phase, Retry, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.drivers.watching import WatchingDriver
from callboard.engine.forking import Forking
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.protocol import EventLog
from callboard.log.sqlite.log import SqliteLog
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
            Workflow(
                "items",
                state=Notes,
                phases=[
                    Phase(
                        "each",
                        agent=work,
                        for_each=lambda state: [1, 2, 3],
                        parallel=2,
                        update=note,
                        terminal=True,
                    )
                ],
            ),
            Workflow(
                "steps",
                state=Notes,
                phases=[
                    Phase("one", agent=work, update=note, next="two"),
                    Phase("two", agent=work, update=note, terminal=True),
                ],
            ),
        ]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def handle(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[Handle]:
    """Opens handles on one log, as several processes would."""
    memory = SharedMemory()
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


async def true(condition: Callable[[], bool]) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(90):
        while not condition():
            await asyncio.sleep(0.001)


class Watched:
    """One handle with a driver that watches, and one of somebody else's."""

    def __init__(self, handle: Handle, clock: FakeClock) -> None:
        self.clock = clock
        self.stage = Stage()
        self.handle = handle
        self.board = Callboard(handle(), self.stage.workflows(), clock)
        self.other = Callboard(handle(), self.stage.workflows(), clock)
        self.drivers: list[WatchingDriver] = []
        self.driver = self.another(self.board)

    def another(
        self, board: Callboard, concurrency: int = 64, manner: Manner | None = None
    ) -> WatchingDriver:
        driver = WatchingDriver(board.driver, board.log, self.clock, concurrency, manner)
        self.drivers.append(driver)
        return driver

    async def begin(self, *sessions: str, workflow: str = "review") -> None:
        for session in sessions:
            await self.other.start(workflow, session_id=session)

    async def status(self, session: str) -> str:
        return (await self.other.session(session)).status

    async def until(self, *sessions: str, status: str) -> None:
        """Wait until all of them stand like this; the clock of the driver stands still."""
        async with asyncio.timeout(90):
            while {await self.status(session) for session in sessions} != {status}:
                await asyncio.sleep(0.001)

    async def advance(self, *sessions: str, status: str, by: float = 1.0) -> None:
        """Move the clock on until all of them stand like this."""
        async with asyncio.timeout(90):
            while {await self.status(session) for session in sessions} != {status}:
                await self.clock.advance(by)
                await asyncio.sleep(0.001)

    async def until_idle(self) -> None:
        await true(lambda: not self.driver.driving and not self.driver.queued)
        for _ in range(20):
            await asyncio.sleep(0)
        await true(lambda: not self.driver.driving and not self.driver.queued)

    async def working(self, count: int = 1) -> None:
        """Wait until so many agents are at work."""
        await true(lambda: self.stage.running == count)

    async def names(self, session: str) -> list[str]:
        return [event.name for event in await self.other.log.read(session)]

    async def owner(self, session: str) -> str | None:
        lease = await self.other.log.lease(session)
        assert lease is not None
        return lease.owner

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


async def test_what_others_leave_is_driven_before_the_next_look(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    await watched.until_idle()

    async def takes_forever(limit: int = 1000) -> list[str]:
        return await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(watched.board.log, "unsettled", takes_forever)
    await watched.answer("a")
    await watched.until("a", status="completed")
    await watched.check("a")


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
    await watched.begin(*sessions, workflow="deadline")
    await watched.until(*sessions, status="waiting")
    await watched.until_idle()
    assert len(asyncio.all_tasks()) <= before + 2  # Who looks at the log may be at it.
    assert watched.clock.sleepers == 1
    assert {await watched.owner(session) for session in sessions} == {None}


async def test_a_paused_session_goes_on_when_it_is_resumed(watched: Watched):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    assert await watched.other.pause("a")
    await watched.answer("a")
    await watched.until_idle()
    assert await watched.status("a") == "paused"
    assert await watched.other.log.unsettled() == []
    assert await watched.other.resume("a")
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_a_pause_reaches_an_agent_at_work(watched: Watched):
    watched.stage.gate.clear()
    await watched.driver.start()
    await watched.begin("a", workflow="steps")
    await watched.working()
    assert await watched.other.pause("a")
    watched.stage.gate.set()
    await watched.until("a", status="paused")
    assert watched.stage.calls == {"one": 1}
    assert await watched.other.resume("a")
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_a_cancellation_stops_an_agent_at_work(watched: Watched):
    watched.stage.gate.clear()
    await watched.driver.start()
    await watched.begin("a")
    await watched.working()
    assert await watched.other.cancel("a")
    await watched.working(0)
    await watched.until_idle()
    assert await watched.status("a") == "cancelled"
    assert await watched.other.log.unsettled() == []


async def test_deadlines_fire_without_a_task_for_each(watched: Watched):
    await watched.driver.start()
    await watched.begin("a", workflow="deadline")
    await watched.until("a", status="waiting")
    await watched.clock.advance(59)
    await watched.until_idle()
    assert await watched.status("a") == "waiting"
    await watched.clock.advance(1)
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_deadlines_that_passed_while_nobody_watched_fire_at_the_start(watched: Watched):
    await watched.begin("a", "b", workflow="deadline")
    await watched.other.drive("a")
    await watched.other.drive("b")
    await watched.clock.advance(61)
    await watched.driver.start()
    await watched.until("a", "b", status="completed")


async def test_retries_wait_without_a_task_and_come_when_due(watched: Watched):
    watched.stage.failures = 2
    await watched.driver.start()
    await watched.begin("a", workflow="retry")
    await true(lambda: watched.stage.calls["try"] == 1)
    await watched.until_idle()
    assert await watched.owner("a") is None
    await watched.clock.advance(59)
    await watched.until_idle()
    assert watched.stage.calls["try"] == 1
    await watched.clock.advance(1)
    await true(lambda: watched.stage.calls["try"] == 2)
    await watched.until_idle()
    await watched.clock.advance(119)
    await watched.until_idle()
    assert watched.stage.calls["try"] == 2
    await watched.clock.advance(1)
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_no_more_sessions_run_at_once_than_allowed(watched: Watched):
    sessions = [f"s{number}" for number in range(10)]
    watched.stage.gate.clear()
    driver = watched.another(watched.board, concurrency=3)
    await watched.begin(*sessions)
    await driver.start()
    await watched.working(3)
    assert (driver.driving, driver.queued) == (3, 7)
    watched.stage.gate.set()
    await watched.until(*sessions, status="waiting")
    assert watched.stage.most == 3


async def test_a_fork_that_is_not_to_run_is_left_alone(watched: Watched):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    still = await watched.other.operations.fork("a", Forking(position=1), run=False)
    runs = await watched.other.operations.fork("a", Forking(position=1), run=True)
    await watched.until(runs.session_id, status="waiting")
    await watched.until_idle()
    assert await watched.names(still.session_id) == ["workflow:started", "session:forked"]
    assert watched.stage.calls["draft"] == 2


async def test_a_fork_that_was_left_alone_runs_when_it_is_called(watched: Watched):
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    fork = await watched.other.operations.fork("a", Forking(position=1), run=False)
    await watched.until_idle()
    watched.driver.wake(fork.session_id)
    await watched.until(fork.session_id, status="waiting")


async def test_what_the_same_program_runs_itself_is_not_taken_from_it(watched: Watched):
    await watched.driver.start()
    result = await watched.board.run("steps", session_id="a")
    assert result.status == "completed"
    await watched.check("a")
    assert watched.stage.calls == {"one": 1, "two": 1}


async def test_an_agent_that_waits_for_a_person_lingers_as_long_as_told(watched: Watched):
    driver = watched.another(watched.board, manner=Manner(linger=30))
    await driver.start()
    await watched.begin("a", workflow="asking")
    await watched.until("a", status="waiting")
    assert driver.driving == 1
    await watched.answer("a")
    await watched.until("a", status="completed")
    assert watched.stage.calls == {"pay": 1}
    await watched.begin("b", workflow="asking")
    await watched.until("b", status="waiting")
    await watched.clock.advance(31)
    await true(lambda: driver.driving == 0)
    await watched.answer("b")
    await watched.until("b", status="completed")
    assert watched.stage.calls == {"pay": 3}


async def test_a_session_that_another_drives_is_left_to_it(watched: Watched):
    watched.stage.gate.clear()
    await watched.begin("a")
    driving = asyncio.create_task(watched.other.drive("a"))
    await watched.working()
    await watched.driver.start()
    await watched.clock.advance(10)
    await watched.until_idle()
    assert await watched.owner("a") == watched.other.log.owner
    watched.stage.gate.set()
    await driving
    await watched.answer("a")
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_the_sessions_of_an_owner_that_died_are_taken_over(watched: Watched, handle: Handle):
    watched.stage.gate.clear()
    dying = Callboard(handle(), watched.stage.workflows(), watched.clock)
    await watched.begin("a")
    driving = asyncio.create_task(dying.drive("a"))
    await watched.working()
    await watched.driver.start()
    await watched.until_idle()
    crash(dying.log)
    driving.cancel()
    await asyncio.wait({driving})
    watched.stage.gate.set()
    await watched.advance("a", status="waiting")
    await watched.check("a")
    assert watched.clock.monotonic() <= 6
    assert "agent:interrupted" in await watched.names("a")


async def test_stopping_lets_agents_finish_and_starts_no_others(watched: Watched):
    watched.stage.gate.clear()
    await watched.driver.start()
    await watched.begin("a", workflow="steps")
    await watched.working()
    stopping = asyncio.create_task(watched.driver.stop(60))
    await watched.clock.advance(30)
    assert not stopping.done()
    watched.stage.gate.set()
    await stopping
    assert watched.stage.calls == {"one": 1}
    assert (await watched.names("a"))[-1] == "phase:entered"
    assert await watched.owner("a") is None
    second = watched.another(watched.other)
    await second.start()
    await watched.until("a", status="completed")
    await watched.check("a")
    assert watched.stage.calls == {"one": 1, "two": 1}


async def test_stopping_lets_items_finish_and_starts_no_others(watched: Watched):
    watched.stage.gate.clear()
    await watched.driver.start()
    await watched.begin("a", workflow="items")
    await watched.working(2)
    stopping = asyncio.create_task(watched.driver.stop(60))
    await watched.clock.advance(1)
    watched.stage.gate.set()
    await stopping
    assert watched.stage.calls == {"each": 2}
    assert await watched.owner("a") is None
    assert await watched.other.log.unsettled() == ["a"]
    second = watched.another(watched.other)
    await second.start()
    await watched.until("a", status="completed")
    await watched.check("a")
    assert watched.stage.calls == {"each": 3}


async def test_stopping_does_not_wait_for_the_next_attempt(watched: Watched):
    watched.stage.failures = 1
    await watched.driver.start()
    await watched.begin("a", workflow="retry")
    await true(lambda: watched.stage.calls["try"] == 1)
    await watched.until_idle()
    await watched.driver.stop(1000)
    assert watched.clock.monotonic() == 0
    await watched.clock.advance(60)
    assert watched.stage.calls["try"] == 1
    await watched.driver.start()
    await watched.until("a", status="completed")


async def test_stopping_interrupts_what_takes_too_long(watched: Watched):
    sessions = [f"s{number}" for number in range(10)]
    watched.stage.gate.clear()
    await watched.driver.start()
    await watched.begin(*sessions)
    await watched.working(10)
    stopping = asyncio.create_task(watched.driver.stop(5))
    await watched.clock.advance(4.9)
    assert not stopping.done()
    assert watched.stage.running == 10
    await watched.clock.advance(0.1)
    await stopping
    assert watched.stage.running == watched.driver.driving == watched.driver.queued == 0
    for session in sessions:
        assert (await watched.names(session))[-1] == "agent:interrupted"
        assert await watched.owner(session) is None
    watched.stage.gate.set()
    second = watched.another(watched.other)
    await second.start()
    await watched.until(*sessions, status="waiting")
    await watched.check(*sessions)


async def test_stopping_does_not_wait_for_people(watched: Watched):
    driver = watched.another(watched.board, manner=Manner(linger=3600))
    await driver.start()
    await watched.begin("a", workflow="asking")
    await watched.until("a", status="waiting")
    await driver.stop(1000)
    assert watched.clock.monotonic() == 0
    await driver.start()
    await watched.answer("a")
    await watched.until("a", status="completed")
    await watched.check("a")


async def test_nothing_is_taken_up_before_the_start_and_after_the_stop(watched: Watched):
    await watched.begin("a")
    watched.driver.wake("a")
    assert watched.driver.driving == watched.driver.queued == 0
    await watched.driver.start()
    await watched.until("a", status="waiting")
    await watched.driver.stop(1)
    await watched.answer("a")
    watched.driver.wake("a")
    assert watched.driver.driving == watched.driver.queued == 0
    assert await watched.status("a") == "running"
    await watched.driver.start()
    await watched.until("a", status="completed")


async def test_starting_twice_is_starting_once(watched: Watched):
    await watched.driver.start()
    await watched.driver.start()
    await watched.begin("a")
    await watched.until("a", status="waiting")
    await watched.driver.stop(0)
    await watched.driver.stop(0)


def crash(log: EventLog) -> None:
    assert isinstance(log, MemoryLog | SqliteLog)
    log.crash()
