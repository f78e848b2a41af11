"""The PostgreSQL log among processes that die and hang, and connections that break."""

import asyncio
import random
import signal
import time
from collections.abc import Callable

import psycopg
import pytest
from tests.faults.log_process import counting
from tests.faults.postgres_proxy import CuttingProxy
from tests.faults.processes import StartProcess, heard, tell
from tests.postgres import PostgresServer, running_server

from callboard.errors import OwnershipLost, SessionOwned, StoreBusy
from callboard.events.envelope import Event
from callboard.events.rows import Query
from callboard.log.postgres import connections
from callboard.log.postgres.log import PostgresLog
from callboard.log.postgres.notices import CommitNotices
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import PATIENCE, happened, several

Opened = Callable[..., PostgresLog]


@pytest.fixture
def address(postgres_url: str) -> str:
    return postgres_url


async def claimed(log: PostgresLog, within: float) -> float:
    """Claim until it works; returns how many seconds that took."""
    started = time.monotonic()
    while True:
        try:
            await log.append("owned", [], Writing(claim=True))
        except SessionOwned:
            assert time.monotonic() - started < within
            await asyncio.sleep(0.05)
        else:
            return time.monotonic() - started


def disconnect_all(postgres: PostgresServer, url: str) -> None:
    name = url.rpartition("/")[2]
    sql = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    postgres.execute(sql)


async def test_a_killed_owner_is_replaced_within_three_seconds(start: StartProcess, opened: Opened):
    owner, log = await start("own"), opened()
    assert await heard(owner) == "epoch 1"
    with pytest.raises(SessionOwned):
        await log.append("owned", [], Writing(claim=True))
    owner.send_signal(signal.SIGKILL)
    assert await claimed(log, PATIENCE) < 3
    lease = await log.lease("owned")
    assert lease is not None
    assert (lease.owner, lease.epoch) == (log.owner, 2)


async def test_a_frozen_owner_is_replaced_and_can_append_nothing(
    start: StartProcess, opened: Opened
):
    owner, log = await start("own"), opened(frozen_after=0.8)
    assert await heard(owner) == "epoch 1"
    await log.lease("owned")
    owner.send_signal(signal.SIGSTOP)
    assert await claimed(log, PATIENCE) < 3
    owner.send_signal(signal.SIGCONT)
    tell(owner, "append")
    assert await heard(owner) == OwnershipLost.__name__


async def test_all_writers_and_tails_agree_on_one_dense_sequence(opened: Opened):
    writers, readers = [opened() for _ in range(8)], [opened() for _ in range(4)]
    total = 8 * 20 * 2

    async def write(log: PostgresLog, number: int) -> None:
        for turn in range(20):
            await log.append(f"s{(number + turn) % 5}", several(2))

    async def follow(log: PostgresLog) -> list[tuple[int, Event]]:
        tail = log.tail_all()
        return [await anext(tail) for _ in range(total)]

    following = [asyncio.ensure_future(follow(log)) for log in readers]
    await asyncio.gather(*(write(log, number) for number, log in enumerate(writers)))
    # All that was written is there to be read, however long the writing took.
    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*following)
    assert [sequence for sequence, _ in found[0]] == list(range(1, total + 1))
    assert all(one == found[0] for one in found)
    for stream in range(5):
        positions = [e.position for _, e in found[0] if e.session_id == f"s{stream}"]
        assert positions == list(range(1, len(positions) + 1))
    rows = await readers[0].rows(Query("sessions"))
    assert sum(row["pending"] for row in rows) == total


async def test_everyone_who_fights_for_a_stream_gets_through(opened: Opened):
    logs = [opened() for _ in range(5)]

    async def write(log: PostgresLog) -> None:
        for _ in range(15):
            await log.append("s", several(1))

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(write(log) for log in logs))
    assert [event.position for event in await logs[0].read("s")] == list(range(1, 76))


async def test_after_all_connections_are_lost_everything_works_again(
    postgres: PostgresServer, postgres_url: str, opened: Opened
):
    mine, other = opened(), opened()
    await mine.append("owned", several(1), Writing(claim=True))
    heard_of = asyncio.Event()
    other.on_change("owned", lambda head: heard_of.set())
    assert await other.head("owned") == 1
    disconnect_all(postgres, postgres_url)
    started = time.monotonic()
    await mine.append("owned", several(1), Writing(epoch=1))
    assert time.monotonic() - started < 1.5
    assert await other.head("owned") == 2
    async with asyncio.timeout(PATIENCE):
        await heard_of.wait()
    with pytest.raises(SessionOwned):
        await other.append("owned", several(1), Writing(claim=True))
    assert (await mine.append("owned", [], Writing(epoch=1, settle=True))).epoch == 1


async def test_a_notification_that_gets_lost_is_made_up_for(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    mine, other = opened(), opened()
    told = asyncio.Event()
    mine.on_change("s", lambda head: told.set())
    await mine.lease("s")
    await asyncio.sleep(0.2)
    monkeypatch.setattr(CommitNotices, "announce", lambda self: None)
    await other.append("s", several(1))
    # A beat comes every half second. The rest is for a busy machine.
    async with asyncio.timeout(1.0):
        await told.wait()


async def test_texts_with_nul_and_large_payloads_are_kept(opened: Opened):
    log = opened()
    payload = {"text": "a\x00b", "noise": random.Random(1).randbytes(8_000_000).hex()}
    await log.append("s", [happened(payload=payload)])
    (event,) = await opened().read("s")
    assert event.payload == payload


async def test_a_transaction_in_another_database_delays_no_tail(
    postgres: PostgresServer, opened: Opened
):
    log = opened()
    with psycopg.connect(postgres.url("postgres")) as connection:
        connection.execute("CREATE TEMPORARY TABLE busy ()")
        connection.execute("SELECT pg_current_xact_id()")
        await log.append("s", several(3))
        tail = log.tail_all()
        async with asyncio.timeout(PATIENCE):
            assert [(await anext(tail))[0] for _ in range(3)] == [1, 2, 3]
        connection.rollback()


async def test_when_all_connections_are_in_use_the_log_is_busy(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "_READERS", 2)
    log = opened(lock_timeout=0.3)
    await log.head("s")
    pool = log._live().pool
    async with pool.connection(), pool.connection():
        with pytest.raises(StoreBusy, match="in use"):
            await log.head("s")
    assert await log.head("s") == 0


async def cut_often(postgres: PostgresServer, url: str, opened: Opened, times: int) -> None:
    """Nothing is lost and nothing is written twice, wherever a connection is cut."""
    proxy = CuttingProxy(postgres.port)
    through = url.replace(f":{postgres.port}/", f":{await proxy.start()}/")
    log, dice = opened(through), random.Random(times)
    appended = 0
    try:
        for number in range(times):
            proxy.cut = dice.choice(["before", "half", "after"])
            count = dice.choice([1, 1, 3])
            writes = [log.append(f"s{number % 3}", several(2)) for _ in range(count)]
            await asyncio.gather(*writes)
            appended += 2 * count
        assert proxy.cuts == times
        found = await opened().read_all(0)
        assert [sequence for sequence, _ in found] == list(range(1, appended + 1))
        assert len({event.id for _, event in found}) == appended
    finally:
        await log.close()
        await proxy.stop()


async def test_a_cut_connection_loses_and_doubles_nothing(
    postgres: PostgresServer, postgres_url: str, opened: Opened
):
    await cut_often(postgres, postgres_url, opened, 15)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_thousand_cut_connections_lose_and_double_nothing(
    postgres: PostgresServer, postgres_url: str, opened: Opened
):
    await cut_often(postgres, postgres_url, opened, 1000)


@pytest.mark.long
async def test_a_writer_that_stopped_in_a_group_holds_no_one_up_for_long(
    postgres_url: str, opened: Opened
):
    log = opened()
    await log.append("s", several(1))
    with psycopg.connect(postgres_url, application_name=connections.WRITER) as stopped:
        stopped.execute("SELECT 1 FROM streams WHERE id = 's' FOR UPDATE")
        started = time.monotonic()
        await log.append("s", several(1))
        assert 3 < time.monotonic() - started < 7
        with pytest.raises(psycopg.OperationalError):
            stopped.execute("SELECT 1")


@pytest.mark.long
@pytest.mark.parametrize("away", [0, 8])
async def test_a_restart_takes_no_lease_from_the_living(away: int):
    with running_server() as server:
        url = server.create()
        mine, other = PostgresLog.open(url, counting), PostgresLog.open(url, counting)
        try:
            await mine.append("owned", several(1), Writing(claim=True))
            assert (await other.lease("owned")) is not None
            server.stop(signal.SIGINT)
            waiting = asyncio.ensure_future(mine.append("owned", several(1), Writing(epoch=1)))
            await asyncio.sleep(away)
            server.start()
            back = time.monotonic()
            await waiting
            assert time.monotonic() - back < 1.5
            for _ in range(10):
                with pytest.raises(SessionOwned):
                    await other.append("owned", [], Writing(claim=True))
                await asyncio.sleep(0.3)
            assert await other.head("owned") == 2
        finally:
            await mine.close()
            await other.close()
