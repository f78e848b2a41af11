"""Who drives what, and which sessions no one can drive, on every log."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.app import migrate
from callboard.clock import Clock
from callboard.engine import workers
from callboard.engine.workers import WorkerInfo
from callboard.errors import SessionNotFound
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import EventLog, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock

Open = Callable[..., Callboard]


def flow(name: str, *phases: str, version: str | None = None) -> Workflow:
    """A workflow that asks in each of its phases."""
    steps = [
        Phase(phase, human=Approval(f"{phase}?", 60, on_timeout="approve"), next=after)
        for phase, after in zip(phases, [*phases[1:], "end"], strict=True)
    ]
    return Workflow(
        name, state=State, phases=[*steps, Phase("end", terminal=True)], version=version
    )


TRIP = flow("trip", "plan", "book", version="2")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def opened(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> AsyncIterator[Open]:
    memory, logs = SharedMemory(), list[EventLog]()
    address = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""

    def one_more() -> EventLog:
        if request.param == "memory":
            return MemoryLog(project, clock, memory)
        if request.param == "sqlite":
            return SqliteLog.open(tmp_path / "x.db", project, clock)
        # Its owners are judged by real time.
        return PostgresLog.open(address, project)

    def open_board(*workflows: Workflow) -> Callboard:
        logs.append(one_more())
        return Callboard(logs[-1], workflows, clock)

    yield open_board
    for log in logs:
        await log.close()


async def offer(board: Callboard, engine_worker: str | None = None) -> None:
    """Let others know what this board can drive, as its driver does when it starts."""
    await board.log.owners.describe(board.driver.described(engine_worker))


async def hold(board: Callboard, session: str) -> None:
    """Drive a session, as far as others can see."""
    await board.log.append(session, [], Writing(claim=True))


def of(found: workers.WorkerOverview, board: Callboard) -> WorkerInfo:
    [one] = [one for one in found.workers if one.id == board.log.owner]
    return one


async def test_a_worker_and_what_it_drives(opened: Open, clock: FakeClock):
    worker, reader = opened(TRIP), opened()
    await offer(worker, "7")
    await worker.start("trip", session_id="a", title="To Rome")
    await worker.drive("a")
    asked_at = clock.now_ms()
    await clock.advance(30)
    [question] = await worker.inbox()
    await worker.answer(question.id, "yes")
    await hold(worker, "a")

    found = await reader.workers()

    one = of(found, worker)
    assert (one.alive, one.engine_worker, one.session_count) == (True, "7", 1)
    assert [(each.name, each.version) for each in one.workflows] == [("trip", "2")]
    [session] = one.sessions
    assert (session.session_id, session.title, session.workflow) == ("a", "To Rome", "trip")
    assert (session.phase, session.since) == ("plan", asked_at)
    assert (found.worker_count, found.driven_count, found.stranded_count) == (1, 1, 0)
    assert len(found.workers) == 1, "a reader is no worker"
    assert found.driver_of("a") == (one, session)
    assert await reader.workers("a") == found


async def test_a_process_that_only_drives_one_session_is_listed(opened: Open):
    """As `callboard run` is: others can't give it sessions."""
    program, reader = opened(TRIP), opened()
    await program.start("trip", session_id="a")
    await hold(program, "a")
    found = await reader.workers()
    one = of(found, program)
    assert (one.workflows, one.session_count, found.worker_count) == ([], 1, 1)
    [session] = one.sessions
    assert session.phase is None
    assert session.since == (await reader.session("a")).created_at.timestamp() * 1000


async def test_sessions_without_work_are_not_looked_at(opened: Open):
    board = opened(TRIP)
    for session in ("waits", "paused", "cancelled"):
        await board.start("trip", session_id=session)
        await board.drive(session)
    await board.pause("paused")
    await board.cancel("cancelled")
    found = await board.workers()
    assert (found.driven_count, found.ready_count, found.stranded_count) == (0, 0, 0)
    for session in ("waits", "paused", "cancelled"):
        assert (await board.workers(session)).stranded == []


async def test_without_workers_every_session_with_work_is_stranded(opened: Open):
    board = opened(TRIP)
    await board.start("trip", session_id="a")
    [one] = (await board.workers()).stranded
    assert (one.session_id, one.version, one.phase) == ("a", "2", None)
    assert one.reason == "No worker is running."
    assert one.next_step.startswith("Start one: callboard worker FILE")
    assert (await board.workers("a")).stranded == [one]


async def test_a_workflow_that_no_worker_has(opened: Open):
    board, worker = opened(TRIP), opened(flow("memo", "write"))
    await board.start("trip", session_id="a")
    await offer(worker)
    found = await board.workers()
    [one] = found.stranded
    assert one.reason == "No running worker has the workflow 'trip'."
    assert one.next_step.startswith("Start a worker that has it: callboard worker FILE")
    assert (found.worker_count, found.ready_count) == (1, 0)
    mine = await board.workers("a")
    assert (mine.workers, mine.worker_count, mine.stranded) == ([], 1, [one])


async def test_a_phase_that_only_another_version_has(opened: Open):
    board, worker = opened(TRIP), opened(flow("trip", "pack", version="1"))
    await board.start("trip", session_id="a")
    await board.drive("a")
    [question] = await board.inbox()
    await board.answer(question.id, "yes")
    await offer(worker)
    [one] = (await board.workers()).stranded
    assert one.reason == (
        "No running worker has the phase 'plan' of the workflow 'trip': the session has version 2, "
        "running workers have 1."
    )
    await offer(board)
    found = await board.workers()
    assert (found.stranded_count, found.ready_count) == (0, 1)


async def test_a_session_that_is_held(opened: Open):
    board = opened(TRIP)
    await board.start("trip", session_id="a")
    await board.drive("a")
    [question] = await board.inbox()
    await board.answer(question.id, "yes")
    worker = opened(flow("trip", "pack", version="3"))
    await offer(worker)
    await worker.drive("a")
    assert await worker.log.unsettled() == []
    [one] = (await board.workers()).stranded
    assert one.reason.startswith("Workflow 'trip' no longer has the phase 'plan'")
    assert one.next_step.endswith("resume the session: callboard resume a")


async def test_what_is_due_has_work(opened: Open, clock: FakeClock):
    board = opened(TRIP)
    await board.start("trip", session_id="a")
    await board.drive("a")
    await clock.advance(59)
    assert (await board.workers()).stranded == []
    await clock.advance(1)
    [one] = (await board.workers()).stranded
    assert one.session_id == "a"
    assert (await board.workers("a")).stranded == [one]
    await offer(board)
    assert (await board.workers()).ready_count == 1


async def test_the_sessions_of_a_dead_worker_are_for_others(opened: Open):
    board, worker = opened(TRIP), opened(TRIP)
    await board.start("trip", session_id="a")
    await offer(board)
    await offer(worker)
    await hold(worker, "a")
    assert (await board.workers()).driver_of("a") is not None
    dying: Any = worker.log
    dying.crash()
    # A database server needs a moment to notice.
    while (found := await board.workers()).worker_count > 1:
        await asyncio.sleep(0.02)
    assert (found.worker_count, found.ready_count, found.driven_count) == (1, 1, 0)
    assert found.driver_of("a") is None
    assert all(one.alive for one in found.workers if one.id != worker.log.owner)
    assert not any(one.alive for one in found.workers if one.id == worker.log.owner)


async def test_a_long_list_is_cut_and_counted(opened: Open, monkeypatch: pytest.MonkeyPatch):
    board = opened(TRIP)
    for number in range(6):
        await board.start("trip", session_id=f"s{number}")
    monkeypatch.setattr(workers, "STRANDED_SHOWN", 2)
    found = await board.workers()
    assert (len(found.stranded), found.stranded_count, found.limited) == (2, 6, False)

    await offer(board)
    for number in range(3):
        await hold(board, f"s{number}")
    monkeypatch.setattr(workers, "SESSIONS_SHOWN", 2)
    one = of(await board.workers(), board)
    assert (len(one.sessions), one.session_count) == (2, 3)

    monkeypatch.setattr(workers, "LOOKED_AT", 4)
    found = await board.workers()
    assert found.limited
    assert found.driven_count + found.ready_count == 4


async def test_a_session_that_does_not_exist(opened: Open):
    with pytest.raises(SessionNotFound):
        await opened().workers("nope")


async def test_when_a_worker_started_is_known(tmp_path: Path, clock: FakeClock):
    async with Callboard.open(tmp_path / "x.db", [TRIP], clock=clock) as board:
        await offer(board)
        began = clock.now_ms()
        await clock.advance(90)
        [one] = (await board.workers()).workers
        assert one.since == began


async def test_a_phase_before_this_version_has_no_time(tmp_path: Path):
    """Until the session enters another phase, or `callboard rebuild`."""
    await migrate(tmp_path / "x.db")
    async with Callboard.open(tmp_path / "x.db", [TRIP]) as board:
        await board.start("trip", session_id="a")
        await board.drive("a")
        database: Any = board.log
        database._database.execute("UPDATE sessions SET phase_since = NULL")
        [question] = await board.inbox()
        await board.answer(question.id, "yes")
        await hold(board, "a")
        [session] = (await board.workers()).workers[0].sessions
        assert session.since is None
        await board.rebuild()
        [session] = (await board.workers()).workers[0].sessions
        assert session.since is not None
