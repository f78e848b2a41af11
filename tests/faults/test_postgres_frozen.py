"""Owners on PostgreSQL that hang, or can't reach the server: they are replaced, and do no harm."""

import asyncio
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from psycopg import AsyncConnection
from tests.faults.conftest import CHILD
from tests.faults.log_process import counting
from tests.faults.postgres_proxy import CuttingProxy
from tests.faults.test_log_faults import heard, kill, tell
from tests.postgres import PostgresServer

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.errors import OwnershipLost, SessionOwned
from callboard.log.postgres.connections import WRITER
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import Writing
from callboard.state.rows import project
from callboard.testing.log_suite_material import several

GUARD = 120.0
HOLDS_LOCKS = f"""
SELECT 1 FROM pg_stat_activity
WHERE application_name = '{WRITER}' AND wait_event = 'ClientRead' AND xact_start IS NOT NULL
"""

WAITS_TO_WRITE = f"""
SELECT 1 FROM pg_stat_activity
WHERE application_name = '{WRITER}' AND wait_event_type = 'Lock'
"""

Start = Callable[..., Awaitable[Process]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start another process on a database; whatever is left is killed at the end."""
    started: list[Process] = []

    async def start(role: str, url: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, CHILD, role, url, "other", stdin=PIPE, stdout=PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        await kill(process)


@asynccontextmanager
async def proxied(postgres: PostgresServer, url: str) -> AsyncGenerator[tuple[CuttingProxy, str]]:
    """A proxy before the server, and the address of the database through it."""
    proxy = CuttingProxy(postgres.port)
    port = await proxy.start()
    try:
        yield proxy, url.replace(f":{postgres.port}/", f":{port}/")
    finally:
        proxy.flows.set()
        await proxy.stop()


@asynccontextmanager
async def read_only(url: str, table: str) -> AsyncGenerator[None]:
    """Nothing is written into a table meanwhile: those who try wait."""
    async with await AsyncConnection.connect(url) as link:
        await link.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
        yield


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(GUARD):
        while not condition():
            await asyncio.sleep(0.02)


class Notes(State):
    seen: list[str] = []


class Worker:
    """A workflow whose agent works until it is let go, and what became of it."""

    def __init__(self) -> None:
        self.attempts: list[int] = []
        self.cancelled = 0
        self.finish = asyncio.Event()

        @agent
        async def work(state: Notes, ctx: Context) -> str:
            self.attempts.append(ctx.attempt)
            try:
                await self.finish.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return "done"

        self.agent = work
        self.flow = Workflow(
            "w", state=Notes, phases=[Phase("p", agent=work, on_uncertain="retry", terminal=True)]
        )


def opened(url: str, worker: Worker) -> Callboard:
    return Callboard(PostgresLog.open(url, project, frozen_after=3.0), [worker.flow])


async def test_a_driver_that_is_cut_off_stops_its_agents_before_it_is_replaced(
    postgres: PostgresServer, postgres_url: str
):
    first, second = Worker(), Worker()
    async with (
        proxied(postgres, postgres_url) as (proxy, through),
        opened(postgres_url, second) as other,
        opened(through, first) as board,
    ):
        driving = asyncio.ensure_future(board.run(first.flow, session_id="s"))
        await until(lambda: bool(first.attempts))
        assert (await other.log.lease("s")) is not None
        proxy.flows.clear()
        await until(lambda: first.cancelled == 1)
        assert board.log.is_cut_off
        assert not second.attempts
        second.finish.set()
        async with asyncio.timeout(GUARD):
            while True:
                try:
                    assert (await other.drive("s")).status == "completed"
                    break
                except SessionOwned:
                    await asyncio.sleep(0.05)
        assert second.attempts == [2]
        proxy.flows.set()
        async with asyncio.timeout(GUARD):
            assert (await driving).status == "completed"
        assert first.attempts == [1]
        ended = [event for event in await other.log.read("s") if event.name == "agent:completed"]
        assert len(ended) == 1


async def test_a_driver_that_is_back_in_time_starts_its_agent_again(
    postgres: PostgresServer, postgres_url: str
):
    worker = Worker()
    async with (
        proxied(postgres, postgres_url) as (proxy, through),
        opened(through, worker) as board,
    ):
        driving = asyncio.ensure_future(board.run(worker.flow, session_id="s"))
        await until(lambda: bool(worker.attempts))
        proxy.flows.clear()
        await until(lambda: worker.cancelled == 1)
        proxy.flows.set()
        await until(lambda: len(worker.attempts) == 2)
        assert not board.log.is_cut_off
        worker.finish.set()
        assert (await driving).status == "completed"
        told = [event.payload for event in await board.log.read("s") if "interrupted" in event.name]
        assert [one["reason"] for one in told] == ["stopped"]


async def test_an_agent_whose_start_is_committed_when_its_driver_is_cut_off_starts_later(
    postgres: PostgresServer, postgres_url: str
):
    first, second = Worker(), Worker()
    last = Phase("q", agent=second.agent, on_uncertain="retry", terminal=True)
    flow = Workflow("w", state=Notes, phases=[Phase("p", agent=first.agent, next="q"), last])
    log = PostgresLog.open(postgres_url, project, frozen_after=3.0)
    async with Callboard(log, [flow]) as board:
        driving = asyncio.ensure_future(board.run(flow, session_id="s"))
        await until(lambda: bool(first.attempts))
        async with AsyncExitStack() as stuck:
            async with read_only(postgres_url, "events"):
                first.finish.set()
                await until(lambda: bool(postgres.execute(WAITS_TO_WRITE)))
                # From here on, it can't beat.
                await stuck.enter_async_context(read_only(postgres_url, "owners"))
                await until(lambda: log.is_cut_off)
            async with asyncio.timeout(GUARD):
                async for event in log.tail("s"):
                    if event.name == "agent:interrupted":
                        assert event.payload["reason"] == "stopped"
                        break
            assert log.is_cut_off
            assert not second.attempts
        await until(lambda: second.attempts == [2])
        second.finish.set()
        assert (await driving).status == "completed"


async def claimed(log: PostgresLog) -> None:
    async with asyncio.timeout(GUARD):
        while True:
            try:
                await log.append("owned", several(1), Writing(claim=True))
            except SessionOwned:
                await asyncio.sleep(0.1)
            else:
                return


@pytest.mark.long
async def test_an_owner_that_was_stopped_for_20_seconds_appends_nothing(
    start: Start, postgres_url: str
):
    owner, log = await start("own", postgres_url), PostgresLog.open(postgres_url, counting)
    try:
        assert await heard(owner) == "epoch 1"
        await log.lease("owned")
        began = time.monotonic()
        owner.send_signal(signal.SIGSTOP)
        await claimed(log)
        took = time.monotonic() - began
        print(f"taken over after {took:.1f} s")
        # Another owner judges by 15 seconds without a beat, and looks twice a second: that makes up
        # to 17. The rest is for a busy machine.
        assert 14 < took < 20
        await asyncio.sleep(max(0.0, 20 - took))
        owner.send_signal(signal.SIGCONT)
        for _ in range(3):
            tell(owner, "append")
            assert await heard(owner) == OwnershipLost.__name__
        assert await log.head("owned") == 2
        assert (await log.append("owned", several(1), Writing(epoch=2))).head == 3
    finally:
        await log.close()


@pytest.mark.long
async def test_a_process_that_was_stopped_in_a_half_sent_group_holds_no_one_up_for_long(
    start: Start, postgres: PostgresServer, postgres_url: str
):
    log = PostgresLog.open(postgres_url, counting)
    try:
        async with proxied(postgres, postgres_url) as (proxy, through):
            writer = await start("append_when_told", through)
            assert await heard(writer) == "ready"
            await log.append("told", several(1))
            proxy.cut = "stop"
            # A small group is a single message, of which the server does nothing until it has all.
            tell(writer, "200000")
            await proxy.stopped.wait()
            writer.send_signal(signal.SIGSTOP)
            await until(lambda: bool(postgres.execute(HOLDS_LOCKS)))
            began = time.monotonic()
            async with asyncio.timeout(GUARD):
                await log.append("told", several(1))
            took = time.monotonic() - began
            print(f"written after {took:.1f} s")
            # A lock is waited for 5 seconds, and its holder then ended, which makes up to 6. The
            # rest is for a busy machine.
            assert took < 9
            # Its transaction was ended by the server, and nothing of it was written.
            assert await log.head("told") == 2
            writer.send_signal(signal.SIGCONT)
            async with asyncio.timeout(GUARD):
                async for event in log.tail("told"):
                    if event.position == 3:
                        break
            assert len(await log.read("told")) == 3
    finally:
        await log.close()
