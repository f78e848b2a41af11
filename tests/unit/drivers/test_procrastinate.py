"""Jobs of procrastinate: their queues, those of dead and forgetful workers, and its tables."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from tests.postgres import PostgresServer

from callboard.clock import SystemClock
from callboard.drivers.procrastinate_engine import ProcrastinateEngine, queue_of
from callboard.errors import StoreError
from callboard.log.postgres.connections import PostgresAddress
from callboard.log.postgres.log import PostgresLog
from callboard.log.postgres.setup import LOCKS, MIGRATING
from callboard.log.registry import Description
from callboard.state.rows import project


class Runner:
    """Notes whom it drives."""

    def __init__(self, log: PostgresLog) -> None:
        self.log = log
        self.driven: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def drive(self, session_id: str) -> None:
        self.driven.append(session_id)
        await self.gate.wait()

    async def registered(self, engine_worker: str | None) -> None:
        await self.log.owners.describe(Description(engine_worker=engine_worker))


class Jobs:
    """A database with jobs, and the engines of several processes."""

    def __init__(self, postgres: PostgresServer) -> None:
        self.postgres = postgres
        self.url = postgres.create()
        self.database = self.url.rpartition("/")[2]
        self.logs: list[PostgresLog] = []
        self.engines: list[ProcrastinateEngine] = []

    async def engine(self, concurrency: int = 0) -> tuple[ProcrastinateEngine, Runner]:
        log = PostgresLog.open(self.url, project)
        self.logs.append(log)
        address = PostgresAddress.parse(self.url, 30)
        engine = ProcrastinateEngine(address, log.owners, SystemClock(), ["w"], concurrency)
        self.engines.append(engine)
        runner = Runner(log)
        await engine.start(runner)
        return engine, runner

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.postgres.execute(sql, self.database)

    def jobs(self) -> list[tuple[Any, ...]]:
        return self.rows("SELECT lock, status::text FROM procrastinate_jobs ORDER BY id")

    async def until(self, jobs: list[tuple[str, str]]) -> None:
        async with asyncio.timeout(90):
            while self.jobs() != jobs:
                await asyncio.sleep(0.01)


@pytest.fixture
async def jobs(postgres: PostgresServer) -> AsyncIterator[Jobs]:
    given = Jobs(postgres)
    yield given
    for engine in given.engines:
        await engine.stop(0)
    for log in given.logs:
        await log.close()


def test_long_names_fit_into_the_name_of_a_channel():
    assert queue_of("trip") == "callboard.trip"
    names = ["x" * 31, "x" * 32, "é" * 16, "é" * 100]
    queues = [queue_of(name) for name in names]
    assert len(set(queues)) == 4
    assert max(len(f"procrastinate_queue_v1#{queue}".encode()) for queue in queues) < 64


async def test_a_session_is_queued_once_and_again_while_its_job_runs(jobs: Jobs):
    engine, runner = await jobs.engine(concurrency=4)
    runner.gate.clear()
    await engine.wake("a", "w")
    await jobs.until([("a", "doing")])
    assert await engine.awaited(["a", "b"]) == {"a"}
    for _ in range(3):
        await engine.wake("a", "w")
    assert jobs.jobs() == [("a", "doing"), ("a", "todo")]
    runner.gate.set()
    await jobs.until([])
    assert runner.driven == ["a", "a"]


async def test_workflows_with_long_names_are_queued(jobs: Jobs):
    engine, _ = await jobs.engine()
    await engine.wake("a", "a workflow whose name has more than thirty letters")
    assert jobs.jobs() == [("a", "todo")]
    await engine.wake("b", "not loaded here")
    assert await engine.awaited(["a", "b"]) == {"a", "b"}


async def test_jobs_of_dead_workers_are_removed_even_with_a_sibling(jobs: Jobs):
    engine, _ = await jobs.engine()
    worker, runner = await jobs.engine(concurrency=4)
    runner.gate.clear()
    await worker.wake("a", "w")
    await jobs.until([("a", "doing")])
    await engine.wake("a", "w")
    assert await engine.heal() == []
    jobs.logs[1].crash()
    async with asyncio.timeout(90):
        while not (healed := await engine.heal()):
            await asyncio.sleep(0.05)
    assert healed == ["a"]
    assert jobs.jobs() == [("a", "todo")]


async def test_a_zombie_that_finishes_its_job_takes_no_other_job_with_it(jobs: Jobs):
    engine, _ = await jobs.engine()
    zombie, runner = await jobs.engine(concurrency=4)
    runner.gate.clear()
    await zombie.wake("a", "w")
    await jobs.until([("a", "doing")])
    await jobs.logs[1].owners.describe(Description())  # As if it were dead.
    assert await engine.heal() == ["a"]
    await engine.wake("a", "w")
    runner.gate.set()
    await jobs.until([])
    assert runner.driven == ["a", "a"]


async def test_a_job_that_was_fetched_and_not_run_is_given_back(jobs: Jobs):
    engine, _ = await jobs.engine(concurrency=4)
    async with asyncio.timeout(90):
        while not jobs.rows("SELECT id FROM procrastinate_workers"):
            await asyncio.sleep(0.01)
    jobs.rows(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, status, worker_id) SELECT "
        "'callboard.w', 'callboard.drive', 'a', 'doing', id FROM procrastinate_workers"
    )
    await jobs.until([])
    assert await engine.awaited(["a"]) == set()


async def test_a_worker_that_fails_is_replaced(jobs: Jobs):
    engine, runner = await jobs.engine(concurrency=4)
    await engine.wake("a", "w")
    await jobs.until([])
    jobs.rows("DELETE FROM procrastinate_workers")  # The next fetch violates a foreign key.
    await engine.wake("b", "w")
    await jobs.until([])
    assert runner.driven == ["a", "b"]


async def test_tables_that_are_there_are_used_while_a_process_hangs_that_looked_for_them(
    jobs: Jobs,
):
    await jobs.engine()
    with psycopg.connect(jobs.url) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, MIGRATING))
        await jobs.engine()


async def test_tables_of_an_older_version_are_refused(jobs: Jobs):
    await jobs.engine()
    jobs.rows("ALTER FUNCTION procrastinate_retry_job_v2 RENAME TO gone")
    with pytest.raises(StoreError, match=r"older than the installed procrastinate .* migrations"):
        await jobs.engine()
