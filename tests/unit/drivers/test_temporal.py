"""Jobs of Temporal: their names, wakes that come early or twice, and servers that are not there."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker
from tools.postgres_server import free_port
from tools.temporal_server import TemporalServer, running_temporal

from callboard.clock import SystemClock
from callboard.drivers.temporal_connection import connect
from callboard.drivers.temporal_engine import TemporalEngine
from callboard.drivers.temporal_executions import (
    StandaloneJobs,
    WorkflowJobs,
    job_id,
    queue_of_worker,
)
from callboard.drivers.temporal_jobs import DRIVE, DriveEnd
from callboard.errors import ServerUnreachable, ValidationError
from callboard.ids import short_id

PATIENCE = 90


class Runner:
    """Notes which sessions it drives, and how that ends."""

    def __init__(self) -> None:
        self.driven: list[str] = []
        self.ended: list[str] = []
        self.worker: str | None = None
        self.gate = asyncio.Event()
        self.successor: str | None = None

    async def drive(self, session_id: str) -> str | None:
        self.driven.append(session_id)
        try:
            await self.gate.wait()
            self.ended.append("done")
            return self.successor
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise

    async def registered(self, engine_worker: str | None) -> None:
        self.worker = engine_worker

    async def drives(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.driven) < count:
                await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    with running_temporal(tmp_path_factory.mktemp("temporal")) as server:
        yield server


@pytest.fixture
def address(server: TemporalServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    return server.address


@pytest.fixture
def w() -> str:
    """A workflow of its own: workers of other tests would take its sessions."""
    return f"w-{short_id()}"


@asynccontextmanager
async def started(
    *workflows: str, concurrency: int = 4, jobs: type[WorkflowJobs | StandaloneJobs] = WorkflowJobs
) -> AsyncGenerator[tuple[TemporalEngine, Runner]]:
    engine, runner = TemporalEngine(SystemClock(), workflows, concurrency, jobs), Runner()
    await engine.start(runner)
    try:
        yield engine, runner
    finally:
        await engine.stop(0)


async def is_over(engine: TemporalEngine, session: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await engine.awaited([session]):
            await asyncio.sleep(0.01)


async def is_listed(engine: TemporalEngine, session: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await engine.awaited([session, "another"]):
            await asyncio.sleep(0.01)


def test_ids_need_no_quotes():
    assert job_id("s1") == "callboard.s1"
    odd = ["a'b", "a b", "é", "x" * 201, ""]
    ids = [job_id(one) for one in odd]
    assert len(set(ids)) == len(odd)
    assert all("'" not in one and len(one) < 100 for one in ids)


@pytest.mark.parametrize("jobs", [WorkflowJobs, StandaloneJobs])
async def test_a_job_exists_while_its_session_is_driven(
    w: str, address: str, jobs: type[WorkflowJobs | StandaloneJobs]
):
    session = f"one' {jobs.__name__}"
    async with started(w, jobs=jobs) as (engine, runner):
        assert runner.worker is not None
        assert await engine.wake(session, w) is None
        await runner.drives(1)
        await is_listed(engine, session)
        assert await engine.awaited([session, "another"]) == {session}
        runner.gate.set()
        await is_over(engine, session)
        await engine.wake(session, w)
        await runner.drives(2)
    assert runner.driven == [session, session]


async def test_a_wake_during_a_drive_is_not_lost(w: str, address: str):
    async with started(w) as (engine, runner):
        await engine.wake("again", w)
        await runner.drives(1)
        for _ in range(5):
            await engine.wake("again", w)
        runner.gate.set()
        await runner.drives(2)
        await is_over(engine, "again")
    assert runner.driven == ["again", "again"]


class Successor:
    """A worker that has the phase which others lack."""

    def __init__(self) -> None:
        self.driven = asyncio.Event()

    @activity.defn(name=DRIVE)
    async def drive(self, session_id: str) -> DriveEnd:
        self.driven.set()
        return DriveEnd(driven=True)


@pytest.mark.parametrize("jobs", [WorkflowJobs, StandaloneJobs])
async def test_a_session_is_handed_to_the_worker_that_has_its_phase(
    w: str, address: str, jobs: type[WorkflowJobs | StandaloneJobs]
):
    successor, queue = Successor(), queue_of_worker(w)
    other = Worker(await connect(), task_queue=queue, activities=[successor.drive])
    async with started(w, jobs=jobs) as (engine, runner), other:
        runner.successor = w
        runner.gate.set()
        await engine.wake("handed", w)
        async with asyncio.timeout(PATIENCE):
            await successor.driven.wait()
        await is_over(engine, "handed")
    assert runner.driven == ["handed"]


@pytest.mark.parametrize("jobs", [WorkflowJobs, StandaloneJobs])
async def test_a_successor_that_is_gone_is_not_waited_for(
    w: str, address: str, jobs: type[WorkflowJobs | StandaloneJobs]
):
    async with started(w, jobs=jobs) as (engine, runner):
        runner.successor = f"gone {w}"
        runner.gate.set()
        await engine.wake("left", w)
        await runner.drives(1)
        await is_over(engine, "left")
        runner.successor = None
        await engine.wake("left", w)
        await runner.drives(2)


async def test_missed_heartbeats_do_not_stop_a_drive(w: str, address: str):
    async with started(w) as (engine, runner):
        await engine.wake("blocked", w)
        await runner.drives(1)
        await is_listed(engine, "blocked")
        time.sleep(3)  # What an agent does that blocks the event loop.
        await is_over(engine, "blocked")
        assert runner.ended == []
        runner.gate.set()
        await asyncio.sleep(0)
    assert runner.ended == ["done"]


async def test_a_job_that_was_ended_by_hand_can_be_woken_again(w: str, address: str):
    async with started(w) as (engine, runner):
        await engine.wake("ended", w)
        await runner.drives(1)
        client = await Client.connect(address)
        await client.get_workflow_handle(job_id("ended")).terminate()
        await engine.wake("ended", w)
        await runner.drives(2)


async def test_messages_of_the_library_go_to_the_log(
    w: str, address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
):
    async with started(w) as (engine, runner):
        await engine.wake("one", w)
        await runner.drives(1)
        client = await connect()
        await client.get_workflow_handle(job_id("one")).terminate()
        runner.gate.set()
        async with asyncio.timeout(PATIENCE):
            while "not found" not in caplog.text:
                await asyncio.sleep(0.01)
    assert capfd.readouterr().out == ""


async def test_workflows_share_the_room_of_a_worker(w: str, address: str):
    async with started(w, f"{w} too", concurrency=1) as (engine, runner):
        await engine.wake("first", w)
        await runner.drives(1)
        await engine.wake("second", f"{w} too")
        await is_listed(engine, "second")
        assert runner.driven == ["first"]
        runner.gate.set()
        await runner.drives(2)


async def test_a_full_worker_leaves_sessions_to_others(w: str, address: str):
    """Its polls were waiting before it was full, so it gets one session too many."""
    async with (
        started(w, f"{w} too", concurrency=1) as (engine, full),
        started(f"{w} too", concurrency=1) as (_, free),
    ):
        await engine.wake("fills", w)
        await full.drives(1)
        for number in range(4):
            await engine.wake(f"more {number}", f"{w} too")
            await free.drives(number + 1)
            free.gate.set()
        assert full.driven == ["fills"]


async def test_what_a_worker_has_not_started_when_it_stops_goes_to_another(
    w: str, address: str, monkeypatch: pytest.MonkeyPatch
):
    async with started(w, concurrency=1) as (engine, leaving):
        monkeypatch.setattr(engine, "_stopping", True)
        await engine.wake("late", w)
        await is_listed(engine, "late")
        async with started(w) as (_, other):
            await other.drives(1)
        assert leaving.driven == []


async def test_a_worker_that_fails_is_replaced(
    w: str, address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    run, failed = Worker.run, asyncio.Event()

    async def once(worker: Worker) -> None:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("lost")
        await run(worker)

    monkeypatch.setattr(Worker, "run", once)
    async with started(w) as (engine, runner):
        await engine.wake("patient", w)
        await runner.drives(1)
    assert "started again: lost" in caplog.text


async def test_a_server_starts_before_temporal(
    w: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    late = TemporalServer(tmp_path)
    monkeypatch.setenv("TEMPORAL_ADDRESS", late.address)
    async with started(w, concurrency=0) as (engine, _):
        assert "sessions that have work to do wait" in caplog.text
        assert await engine.awaited(["one"]) == ()
        waking = asyncio.create_task(engine.wake("one", w))
        await asyncio.to_thread(late.start)
        try:
            async with asyncio.timeout(PATIENCE):
                await waking
            await is_listed(engine, "one")
        finally:
            await asyncio.to_thread(late.stop)


@pytest.mark.parametrize("wrong", ["::::", "foo bar:1"])
async def test_an_address_that_is_none(wrong: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEMPORAL_ADDRESS", wrong)
    with pytest.raises(ValidationError, match="Use host:port") as raised:
        await connect()
    assert raised.value.context["field"] == "TEMPORAL_ADDRESS"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (RPCStatusCode.PERMISSION_DENIED, "Set TEMPORAL_API_KEY"),
        (RPCStatusCode.UNIMPLEMENTED, "use --driver temporal"),
        (RPCStatusCode.INVALID_ARGUMENT, "refused a request: because"),
    ],
)
async def test_a_server_that_refuses(
    w: str, address: str, monkeypatch: pytest.MonkeyPatch, status: RPCStatusCode, said: str
):
    async def refuses(jobs: StandaloneJobs, query: str) -> list[str]:
        raise RPCError("because", status, b"")

    monkeypatch.setattr(StandaloneJobs, "running", refuses)
    engine = TemporalEngine(SystemClock(), [w], 0, StandaloneJobs)
    with pytest.raises(ServerUnreachable, match=said):
        await engine.start(Runner())


async def test_a_list_that_is_not_to_be_had_keeps_no_one_waiting(
    w: str, address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def is_away(jobs: WorkflowJobs, query: str) -> list[str]:
        raise RPCError("busy", RPCStatusCode.RESOURCE_EXHAUSTED, b"")

    async with started(w, concurrency=0) as (engine, _):
        monkeypatch.setattr(WorkflowJobs, "running", is_away)
        assert await engine.awaited(["one"]) == set()
        assert "doesn't list executions: busy" in caplog.text


async def test_what_takes_longer_than_the_grace_is_cancelled(w: str, address: str):
    async with started(w) as (engine, runner):
        await engine.wake("slow", w)
        await runner.drives(1)
    assert runner.ended == ["cancelled"]


async def test_no_server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{free_port()}")
    with pytest.raises(ServerUnreachable, match="Start it, or set TEMPORAL_ADDRESS"):
        await connect()


async def test_no_such_namespace(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "nowhere")
    with pytest.raises(ServerUnreachable, match="namespace create --namespace nowhere"):
        await connect()


async def test_settings_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "temporal.toml"
    file.write_text("[profile")
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))
    with pytest.raises(ValidationError, match="Temporal's settings can't be read"):
        await connect()
