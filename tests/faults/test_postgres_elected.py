"""What only one process on a PostgreSQL log does is done, whatever becomes of that process."""

import logging
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager

import psycopg
import pytest
from tests.faults.processes import OpenLogs, StartProcess, heard
from tests.postgres import PostgresServer

from callboard.log.postgres.setup import DISPATCHING, LOCKS
from callboard.log.protocol import Writing
from callboard.testing.fake_clock import FakeClock
from callboard.testing.log_suite_material import several
from callboard.testing.log_suite_owners import until

FROZEN_AFTER = 2.0
HOLDS = f"SELECT pg_advisory_lock({LOCKS}, %s)"


@pytest.fixture
def address(postgres_url: str) -> str:
    return postgres_url


@contextmanager
def silent_owner(url: str, *, elected: bool = True) -> Generator[psycopg.Connection]:
    """An owner that has its locks and never beats."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "INSERT INTO owners (id, host, pid, workflows) VALUES ('silent', 'here', 1, '[]') "
            "RETURNING no"
        ).fetchone()
        assert row is not None
        for lock in (row[0], DISPATCHING) if elected else (row[0],):
            connection.execute(HOLDS.encode(), (lock,))
        yield connection


def is_open(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


async def test_a_frozen_process_is_replaced_and_can_be_elected_again(
    start: StartProcess, opened: OpenLogs
):
    first = await start("stand")
    assert await heard(first) == "elected"
    log = opened(frozen_after=FROZEN_AFTER)
    await log.lease("s")
    assert not log.owners.elected()
    began = time.monotonic()
    first.send_signal(signal.SIGSTOP)
    await until(log.owners.elected)
    print(f"replaced after {time.monotonic() - began:.1f} s")
    assert time.monotonic() - began > FROZEN_AFTER - 0.6
    first.send_signal(signal.SIGCONT)
    assert await heard(first) == "not elected"
    await until(lambda: len(log._live().liveness._seen) == 1)
    assert log.owners.elected()
    await log.close()
    assert await heard(first) == "elected"


async def test_an_elected_owner_that_froze_loses_only_its_connection(
    opened: OpenLogs, address: str
):
    log = opened(frozen_after=FROZEN_AFTER)
    with silent_owner(address) as connection:
        await until(log.owners.elected)
        assert not is_open(connection)


async def test_another_frozen_owner_keeps_its_connection(opened: OpenLogs, address: str):
    log = opened(frozen_after=0.8)
    await until(log.owners.elected)
    with silent_owner(address, elected=False) as connection:
        await until(lambda: not log.owners.alive("silent"))
        await until(lambda: log._live().liveness._beaten_at > time.monotonic() - 0.1)
        assert is_open(connection)


async def test_who_may_not_end_a_frozen_owner_says_so_and_goes_on(
    opened: OpenLogs, postgres: PostgresServer, address: str, caplog: pytest.LogCaptureFixture
):
    database = address.rpartition("/")[2]
    await opened().lease("s")
    postgres.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    postgres.execute(
        "GRANT ALL ON SCHEMA public TO stranger; "
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO stranger; "
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO stranger",
        database,
    )
    try:
        with silent_owner(address) as connection, caplog.at_level(logging.WARNING):
            log = opened(address.replace("postgres@", "stranger@"), frozen_after=0.8)
            assert not log.owners.elected()
            await until(lambda: bool(caplog.records))
            link = log._live().liveness._link
            await until(lambda: log._live().liveness._beaten_at > time.monotonic() - 0.1)
            assert log._live().liveness._link is link
            assert log.outage() is None
            assert is_open(connection)
            assert not log.owners.elected()
            await log.close()
    finally:
        postgres.execute("DROP OWNED BY stranger; ", database)
        postgres.execute("DROP ROLE stranger")
    [told] = [record.getMessage() for record in caplog.records]
    assert "same user" in told


async def test_who_was_frozen_knows_that_it_may_be_replaced(start: StartProcess, opened: OpenLogs):
    log = opened(frozen_after=FROZEN_AFTER)
    await until(log.owners.elected)
    time.sleep(FROZEN_AFTER)
    # At once, before it has heard from the server.
    assert not log.owners.elected()
    await until(log.owners.elected)


async def test_who_was_frozen_takes_no_one_else_for_dead(start: StartProcess, opened: OpenLogs):
    other, log = await start("own"), opened(frozen_after=0.8)
    assert await heard(other) == "epoch 1"
    lease = await log.lease("owned")
    await until(lambda: lease.owner in log._live().liveness._seen)
    time.sleep(2)
    # At once, before it has heard from the server.
    assert log.owners.alive(lease.owner)
    assert not await log.owners.has_died(lease.owner)


async def test_who_was_frozen_together_with_another_waits_for_it(opened: OpenLogs, address: str):
    log = opened(frozen_after=FROZEN_AFTER)
    with silent_owner(address):
        await log.lease("s")
        await until(lambda: "silent" in log._live().liveness._seen)
        time.sleep(FROZEN_AFTER)
        assert not await log.owners.has_died("silent")
        await until(lambda: not log.owners.alive("silent"))


async def test_who_stops_asking_lets_another_be_elected(opened: OpenLogs):
    clock = FakeClock()
    mine, other = opened(clock=clock), opened()
    await until(mine.owners.elected)
    await other.append("s", several(1), Writing(claim=True))
    assert not other.owners.elected()
    clock.skip(30)
    await until(other.owners.elected)
    assert not mine.owners.elected()
