"""A dispatcher whose engine has workers of its own: whom it wakes, when, and how often."""

import asyncio
from collections.abc import AsyncIterator, Collection

import pytest

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.engine import JobRunner
from callboard.drivers.watching import LOOK_EVERY, SWEEP_EVERY, Dispatcher
from callboard.events.rows import Query, Row
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.protocol import Writing
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock


class QueueOnly:
    """An engine with a queue that nobody works on."""

    polls = True

    def __init__(self) -> None:
        self.woken: list[str] = []
        self.queued: set[str] = set()
        self.stalled: list[str] = []
        self.stopped: float | None = None
        self.is_there = asyncio.Event()
        self.is_there.set()

    def knows(self, workflow: str) -> bool:
        return True

    async def start(self, runner: JobRunner) -> None:
        self.runner = runner

    async def wake(self, session_id: str, workflow: str) -> int | None:
        self.woken.append(session_id)
        await self.is_there.wait()
        self.queued.add(session_id)
        return None

    async def awaited(self, sessions: Collection[str]) -> Collection[str]:
        return self.queued & set(sessions)

    async def heal(self) -> Collection[str]:
        healed, self.stalled = self.stalled, []
        return healed

    async def stop(self, grace: float) -> None:
        self.stopped = grace


@agent
async def work(state: State, ctx: Context) -> str:
    return ctx.phase


FLOW = Workflow(
    "w",
    state=State,
    phases=[
        Phase("one", agent=work, human=Approval("Sure?", 60, on_timeout="approve"), next="two"),
        Phase("two", agent=work, terminal=True),
    ],
)


class Place:
    """A server that dispatches, another process, and one that can be killed."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.memory = SharedMemory()
        self.log, self.here = self.board()
        self.other, self.there = self.board()
        self.engine = QueueOnly()
        self.dispatcher = Dispatcher(self.engine, self.here.driver, self.log, self.clock)

    def board(self) -> tuple[MemoryLog, Callboard]:
        log = MemoryLog(project, self.clock, self.memory)
        return log, Callboard(log, [FLOW], self.clock)

    async def turns(self) -> None:
        for _ in range(50):
            await asyncio.sleep(0)


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    given = Place()
    await given.dispatcher.start()
    yield given
    await given.dispatcher.stop(0)


async def test_what_this_process_writes_is_dispatched_at_once(place: Place):
    await place.here.start("w", session_id="a")
    await place.turns()
    assert place.engine.woken == ["a"]


async def test_what_others_write_is_found_by_the_next_sweep(place: Place):
    await place.there.start("w", session_id="a")
    await place.turns()
    assert place.engine.woken == []
    await place.clock.advance(SWEEP_EVERY)
    assert place.engine.woken == ["a"]


async def test_one_that_is_not_elected_looks_seldom(monkeypatch: pytest.MonkeyPatch):
    place = Place()
    monkeypatch.setattr(place.log.owners, "elected", lambda: False)
    await place.dispatcher.start()
    await place.there.start("w", session_id="a")
    await place.clock.advance(LOOK_EVERY - 0.1)
    assert place.engine.woken == []
    await place.clock.advance(2 * SWEEP_EVERY)
    assert place.engine.woken == ["a"]
    await place.dispatcher.stop(0)


async def test_who_is_in_the_queue_is_not_woken_again_until_the_job_is_lost(place: Place):
    await place.here.start("w", session_id="a")
    await place.clock.advance(30)
    assert place.engine.woken == ["a"]
    place.engine.queued.clear()
    await place.clock.advance(5 + SWEEP_EVERY)
    assert place.engine.woken == ["a", "a"]


async def test_a_session_that_waits_is_woken_when_its_deadline_passes(place: Place):
    await place.there.start("w", session_id="a")
    await place.there.drive("a")
    await place.clock.advance(59)
    assert place.engine.woken == []
    await place.clock.advance(1)
    assert place.engine.woken == ["a"]


async def test_an_answer_to_a_session_that_is_driven_is_left_to_its_driver(place: Place):
    await place.there.start("w", session_id="a")
    await place.other.append("a", [], Writing(claim=True))
    await place.here.rename("a", "Named")
    await place.clock.advance(60)
    assert place.engine.woken == []


async def test_the_sessions_of_a_dead_owner_are_woken_by_the_next_sweep(place: Place):
    await place.there.start("w", session_id="a")
    await place.other.append("a", [], Writing(claim=True))
    await place.here.rename("a", "Named")
    await place.clock.advance(60)
    place.other.crash()
    await place.clock.advance(SWEEP_EVERY)
    assert place.engine.woken == ["a"]


async def test_jobs_of_dead_workers_are_replaced(place: Place):
    await place.here.start("w", session_id="a")
    await place.turns()
    place.engine.stalled = ["a"]
    await place.clock.advance(SWEEP_EVERY)
    assert place.engine.woken == ["a", "a"]


async def test_a_session_is_not_woken_twice_at_once(place: Place):
    """While its wake is under way, a sweep finds that its earlier job was lost."""
    place.engine.is_there.clear()
    await place.here.start("w", session_id="a")
    await place.turns()
    place.engine.stalled = ["a"]
    await place.clock.advance(SWEEP_EVERY)
    assert place.engine.woken == ["a"]
    place.engine.is_there.set()
    await place.turns()
    assert place.engine.woken == ["a", "a"]


async def test_a_session_that_is_woken_while_a_sweep_reads(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    """What the sweep finds is being woken by then."""
    await place.there.start("w", session_id="a")
    place.engine.is_there.clear()
    rows = place.log.rows

    async def slowly(query: Query) -> list[Row]:
        if query.table == "wakeups" and not place.engine.woken:
            place.dispatcher.wake("a")
            await place.turns()
        return await rows(query)

    monkeypatch.setattr(place.log, "rows", slowly)
    await place.clock.advance(SWEEP_EVERY)
    monkeypatch.undo()
    assert place.engine.woken == ["a"]
    place.engine.is_there.set()
    await place.turns()
    assert place.engine.woken == ["a", "a"]


async def test_a_job_drives_until_the_session_waits(place: Place):
    await place.there.start("w", session_id="a")
    await place.engine.runner.drive("a")
    assert (await place.there.session("a")).status == "waiting"
    await place.clock.advance(30)
    assert place.engine.woken == []


async def test_a_job_for_a_session_that_is_driven_elsewhere_ends(place: Place):
    await place.there.start("w", session_id="a")
    await place.other.append("a", [], Writing(claim=True))
    await place.engine.runner.drive("a")
    assert (await place.there.session("a")).position == 1


async def test_a_phase_that_another_process_knows_is_left_to_it(place: Place):
    """A deploy: the phase at which the session stands is not in this version."""
    added = Phase("new", human=Approval("?"), next="end")
    newer = Workflow("w", state=State, phases=[added, Phase("end", agent=work, terminal=True)])
    log = MemoryLog(project, place.clock, place.memory)
    board = Callboard(log, [newer], place.clock)
    await board.start("w", session_id="a")
    await board.drive("a")
    [question] = await board.inbox()
    await log.owners.describe(board.driver.described(None))
    await board.answer(question.id, "yes")
    await place.engine.runner.drive("a")
    info = await board.session("a")
    assert info.held is None
    assert (await log.unsettled()) == ["a"]
    lease = await log.lease("a")
    assert lease is not None
    assert lease.owner is None
    log.crash()
    await place.engine.runner.drive("a")
    assert (await place.there.session("a")).held is not None


async def test_stopping_stops_the_engine_and_wakes_no_one(place: Place):
    await place.dispatcher.stop(7)
    await place.here.start("w", session_id="a")
    await place.clock.advance(60)
    assert place.engine.stopped == 7
    assert place.engine.woken == []
