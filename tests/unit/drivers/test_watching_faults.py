"""A driver that watches, when the log fails, when there is nothing to be done, and in a rush."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from tests.faults.laws import check_laws

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.watching import WatchingDriver
from callboard.errors import ConflictError, StoreError
from callboard.events.envelope import NewEvent
from callboard.events.rows import Query, Row
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import FaultyLog


class CountingLog(FaultyLog):
    """Counts how often somebody looks at rows, and refuses when it is told to."""

    looks = 0
    broken = False

    async def rows(self, query: Query) -> list[Row]:
        self.looks += 1
        if self.broken:
            raise StoreError("The disk is away.")
        return await super().rows(query)


class World:
    """A log that may fail, with a driver that watches it, and a handle of somebody else's."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        memory = SharedMemory()
        self.log = CountingLog(MemoryLog(project, self.clock, memory))
        self.calls: Counter[str] = Counter()
        self.hold: asyncio.Event | None = None
        self.board = Callboard(self.log, [self.flow()], self.clock)
        self.other = Callboard(MemoryLog(project, self.clock, memory), [self.flow()], self.clock)
        self.driver = WatchingDriver(self.board.driver, self.log, self.clock)

    def flow(self) -> Workflow:
        @agent
        async def work(state: State, ctx: Context) -> str:
            self.calls[ctx.session_id] += 1
            if self.hold is not None:
                await self.hold.wait()
            return ctx.phase

        return Workflow(
            "w",
            state=State,
            phases=[
                Phase("one", agent=work, human=Approval("Sure?", timeout=60), next="two"),
                Phase("two", agent=work, terminal=True),
            ],
        )

    async def turns(self, count: int = 300) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    async def status(self, session: str) -> str:
        return (await self.other.session(session)).status


@pytest.fixture
async def world() -> AsyncIterator[World]:
    given = World()
    yield given
    given.log.broken = False
    await given.driver.stop(0)


async def quiet(world: World) -> None:
    """Nothing changes, so nobody looks more often than once every few seconds."""
    await world.turns()
    before = world.log.looks
    await world.turns()
    assert world.log.looks == before
    await world.clock.advance(60)
    assert world.log.looks - before <= 12 * 6


async def test_a_driver_with_nothing_to_do_rests(world: World):
    await world.driver.start()
    await quiet(world)


async def test_sessions_of_unknown_workflows_are_left_alone(world: World):
    stranger = Workflow(
        "x", state=State, phases=[Phase("one", human=Approval("Sure?", 1), terminal=True)]
    )
    other = Callboard(world.other.log, [stranger], world.clock)
    for number in range(20):
        await other.start("x", session_id=f"x{number}")
    waiting = await other.start("x", session_id="due")
    await other.drive(waiting)
    await world.clock.advance(2)
    await world.driver.start()
    await world.turns()
    assert world.driver.driving == world.driver.queued == 0
    await quiet(world)
    assert len(await world.log.unsettled()) == 20
    assert await world.log.head("x0") == 1


async def test_a_deadline_that_passed_in_a_paused_session_is_left_alone(world: World):
    await world.driver.start()
    await world.other.start("w", session_id="a")
    await world.turns()
    assert await world.status("a") == "waiting"
    await world.other.pause("a")
    await world.clock.advance(61)
    before = world.log.looks
    await world.clock.advance(60)
    assert world.log.looks - before <= 12 * 10
    length = await world.log.head("a")
    await world.other.resume("a")
    await world.turns()
    events = await world.log.read("a", length)
    assert [event.name for event in events] == ["workflow:resumed", "input:reminded"]


async def test_a_session_whose_phase_is_gone_is_held_and_left_alone(world: World):
    await world.driver.start()
    await world.other.start("w", session_id="a")
    await world.turns()
    await world.driver.stop(0)
    less = Workflow(
        "w", state=State, phases=[Phase("other", human=Approval("Sure?"), terminal=True)]
    )
    board = Callboard(world.log, [less], world.clock)
    driver = WatchingDriver(board.driver, world.log, world.clock)
    await driver.start()
    [question] = await world.other.inbox("a")
    await world.other.answer(question.id, "yes")
    await world.turns()
    assert (await world.other.log.rows(Query("sessions")))[0]["held"] is not None
    await quiet(world)
    await driver.stop(0)


@pytest.mark.parametrize("append", range(1, 8))
async def test_a_drive_that_failed_is_tried_again_later(
    world: World, append: int, caplog: pytest.LogCaptureFixture
):
    world.log.fail(StoreError("The disk is full."), before=append)
    await world.driver.start()
    for session in ("a", "b"):
        await world.other.start("w", session_id=session)
        await world.turns()
        await world.clock.advance(1)
        [question] = await world.other.inbox(session)
        await world.other.answer(question.id, "yes")
        await world.turns()
        await world.clock.advance(1)
        assert await world.status(session) == "completed"
        check_laws(await world.log.read(session))
    assert caplog.text.count("The disk is full.") == 1


async def test_a_drive_that_failed_does_not_hold_up_the_others(world: World):
    await world.other.start("w", session_id="bad")
    world.log.fail(StoreError("The disk is full."), before=1)
    await world.driver.start()
    await world.other.start("w", session_id="good")
    await world.turns()
    statuses = {await world.status(session) for session in ("bad", "good")}
    assert statuses == {"pending", "waiting"}
    assert world.driver.driving == world.driver.queued == 0


async def test_a_drive_that_fails_again_and_again_is_tried_less_and_less(
    world: World, caplog: pytest.LogCaptureFixture
):
    await world.other.start("w", session_id="a")
    for number in range(1, 1000):
        world.log.fail(StoreError("The disk is full."), before=number)
    await world.driver.start()
    await world.turns()
    await world.clock.advance(600)
    assert 10 <= caplog.text.count("could not be continued") <= 30


async def test_a_log_that_cannot_be_read_for_a_while_does_not_end_the_driver(
    world: World, caplog: pytest.LogCaptureFixture
):
    await world.driver.start()
    world.log.broken = True
    await world.other.start("w", session_id="a")
    await world.clock.advance(30)
    assert caplog.text.count("The disk is away.") <= 35
    world.log.broken = False
    await world.clock.advance(5)
    await world.turns()
    assert await world.status("a") == "waiting"


async def test_a_log_that_cannot_be_read_at_the_start_is_told_of(world: World):
    world.log.broken = True
    with pytest.raises(StoreError, match="The disk is away"):
        await world.driver.start()
    world.log.broken = False
    await world.other.start("w", session_id="a")
    await world.turns()
    assert await world.log.head("a") == 1
    await world.driver.start()
    await world.turns()
    assert await world.status("a") == "waiting"


async def test_an_error_of_another_kind_is_told_with_its_place(
    world: World, caplog: pytest.LogCaptureFixture
):
    await world.other.start("w", session_id="a")
    world.log.fail(ZeroDivisionError("oh"), before=1)
    await world.driver.start()
    await world.turns()
    [told] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert told.exc_info is not None
    await world.clock.advance(1)
    assert await world.status("a") == "waiting"


async def test_a_stream_that_is_no_session_is_left_alone(world: World):
    event = NewEvent("id", "agent:emitted", {"name": "n", "data": 1}, 0)
    await world.other.log.append("x", [event])
    await world.driver.start()
    await quiet(world)
    assert await world.log.unsettled() == ["x"]


async def test_stopping_waits_until_everything_is_put_down(world: World):
    opened, asked = asyncio.Event(), asyncio.Event()
    await world.other.start("w", session_id="a")
    world.hold = asyncio.Event()
    await world.driver.start()
    await world.turns()
    # The agent has begun by the first append; by the second it is interrupted, by the third
    # the lease is given back.
    world.log.delay(opened, before=3)
    stopping = asyncio.create_task(world.driver.stop(5))
    stopping.add_done_callback(lambda task: asked.set())
    await world.clock.advance(5)
    await world.turns()
    assert not asked.is_set()
    opened.set()
    await stopping
    lease = await world.other.log.lease("a")
    assert lease is not None
    assert lease.owner is None
    events = await world.other.log.read("a")
    assert events[-1].name == "agent:interrupted"


async def test_an_output_that_cannot_be_written_in_time_is_given_up(world: World):
    await world.other.start("w", session_id="a")
    world.hold = asyncio.Event()
    await world.driver.start()
    await world.turns()
    world.log.delay(asyncio.Event(), before=2)
    stopping = asyncio.create_task(world.driver.stop(5))
    await world.turns()
    world.hold.set()
    await world.clock.advance(4)
    assert not stopping.done()
    await world.clock.advance(1)
    await stopping
    lease = await world.other.log.lease("a")
    assert lease is not None
    assert lease.owner is None
    await world.driver.start()
    await world.turns()
    assert await world.status("a") == "waiting"
    assert world.calls["a"] == 2
    check_laws(await world.log.read("a"))


async def test_strangers_in_front_do_not_hide_the_others(world: World):
    stranger = Workflow(
        "x", state=State, phases=[Phase("one", human=Approval("Sure?"), terminal=True)]
    )
    other = Callboard(world.other.log, [stranger], world.clock)
    for number in range(600):
        await other.start("x", session_id=f"x{number}")
    await world.clock.advance(1)
    await world.other.start("w", session_id="a")
    await world.driver.start()
    await world.turns(1000)
    assert await world.status("a") == "waiting"


@pytest.mark.parametrize("seed", range(20))
async def test_no_wakeup_is_lost_in_a_storm(world: World, seed: int):
    """Two drivers, and people who answer, pause and resume at any moment: every session ends."""
    chance = random.Random(seed)
    second = WatchingDriver(world.other.driver, world.other.log, world.clock, concurrency=3)
    sessions = [f"s{number}" for number in range(30)]

    async def person(session: str, board: Callboard) -> None:
        await board.start("w", session_id=session)
        while True:
            for _ in range(chance.randrange(12)):
                await asyncio.sleep(0)
            if chance.random() < 0.3 and await board.pause(session):
                await asyncio.sleep(0)
                await board.resume(session)
            for question in await board.inbox(session):
                try:
                    await board.answer(question.id, "yes")
                except ConflictError:
                    continue
                return

    await world.driver.start()
    await second.start()
    boards = [world.board, world.other]
    await asyncio.gather(*(person(session, chance.choice(boards)) for session in sessions))
    # Only a session that one has put off while the other drove it may need the clock.
    await world.turns(500)
    await world.clock.advance(6)
    await second.stop(0)
    assert {await world.status(session) for session in sessions} == {"completed"}
    for session in sessions:
        check_laws(await world.log.read(session))
