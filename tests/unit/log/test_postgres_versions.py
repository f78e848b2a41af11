"""Two versions of the code on one PostgreSQL database, while servers are updated one by one."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import pytest
from tests.postgres import PostgresServer

from callboard import Callboard
from callboard.clock import SystemClock
from callboard.errors import SessionOwned, StoreError, StoreTooNew
from callboard.events.rows import Put, Query
from callboard.log.postgres import setup
from callboard.log.postgres.connections import PostgresAddress
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import Writing
from callboard.log.tables import Migration, migrations
from callboard.testing.log_suite_material import PATIENCE, changing, described, several

STEPS = migrations("callboard.log.postgres")
NEWEST = STEPS[-1].version
# As a migration may be: what the version before reads and writes still works.
NEXT = """
ALTER TABLE sessions ADD COLUMN flavour text COLLATE "C";
ALTER TABLE owners ADD COLUMN colour text COLLATE "C" NOT NULL DEFAULT 'red';
CREATE TABLE flavours (name text COLLATE "C" NOT NULL PRIMARY KEY);
"""


def newer(count: int) -> list[Migration]:
    """The steps of a version that has this many more."""
    more = enumerate([NEXT, "SELECT 1"][:count], NEWEST + 1)
    named = [Migration(f"{number:04}_next.sql", sql) for number, sql in more]
    return [*STEPS, *named]


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    url = postgres.create()
    yield url
    postgres.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")


@asynccontextmanager
async def version(
    monkeypatch: pytest.MonkeyPatch, url: str, count: int
) -> AsyncGenerator[PostgresLog]:
    """A handle of the code that has this many more steps than ours."""
    with monkeypatch.context() as patch:
        patch.setattr(setup, "migrations", lambda package: newer(count))
        log = PostgresLog.open(url, described)
        await log.head("s")
    try:
        yield log
    finally:
        await log.close()


def session(id: str) -> Put:
    return Put("sessions", {"id": id, "workflow": "w", "created_at": 1})


async def test_a_version_and_the_next_one_work_side_by_side(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    async with version(monkeypatch, url, 0) as old:
        await old.append("s", [changing(session("s"))])
        for _ in range(10):  # The statement is prepared by now.
            assert len(await old.rows(Query("sessions"))) == 1
        async with version(monkeypatch, url, 1) as new:
            assert "flavour" in (await new.rows(Query("sessions")))[0]
            for log, other in ((old, new), (new, old), (old, new)):
                await log.append("s", several(2))
                assert await other.head("s") == await log.head("s")
            assert len(await old.rows(Query("sessions"))) == 1
            await old.append("t", [changing(session("t"))], Writing(claim=True))
            with pytest.raises(SessionOwned):
                await new.append("t", several(1), Writing(claim=True))
            assert await new.rebuild() == await old.rebuild() == 8
            # One that starts, or starts again, in the middle of an update.
            async with version(monkeypatch, url, 0) as again:
                await again.append("s", several(1), Writing(expect=7))
            assert await new.head("s") == 8


async def test_a_schema_that_is_two_versions_ahead_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    async with version(monkeypatch, url, 2) as newest, version(monkeypatch, url, 1) as between:
        await newest.append("s", several(1))
        assert await between.head("s") == 1
    with pytest.raises(StoreTooNew, match="newer Callboard") as refused:
        await Callboard.open(url)
    assert refused.value.context["found"] == NEWEST + 2
    assert refused.value.context["known"] == NEWEST


async def test_a_process_that_hangs_in_a_migration_does_not_keep_others_waiting(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(setup, "_IDLE", 1)
    apply, hangs, goes_on = setup._apply, threading.Event(), threading.Event()

    def applied(database: setup.Database, step: Migration, now_ms: int) -> None:
        apply(database, step, now_ms)
        if not hangs.is_set():
            hangs.set()
            goes_on.wait()

    monkeypatch.setattr(setup, "_apply", applied)
    address = PostgresAddress.parse(url, 30.0)
    hanging = asyncio.create_task(asyncio.to_thread(setup.set_up, address, SystemClock()))
    try:
        await asyncio.to_thread(hangs.wait)
        async with asyncio.timeout(PATIENCE):
            await asyncio.to_thread(setup.set_up, address, SystemClock())
    finally:
        goes_on.set()
    with pytest.raises(StoreError, match="Cannot reach"):
        await hanging
    assert setup.schema_version(address) == NEWEST
