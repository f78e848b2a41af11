"""A database is copied into PostgreSQL, where everything reads the same."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from tests.copied_database import contents, fill_once, trip
from tests.postgres import PostgresServer

from callboard import Callboard
from callboard.errors import StoreBusy, StoreError, ValidationError
from callboard.log.postgres import copying
from callboard.log.postgres.copying import CopyResult
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import several


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def path(folder: Path, tmp_path: Path) -> Path:
    return fill_once(folder, tmp_path / "x.db")


async def copied(path: Path, url: str) -> CopyResult:
    async with Callboard.open(path) as board:
        return await board.copy(url)


async def test_a_copy_reads_the_same(path: Path, postgres_url: str, monkeypatch):
    monkeypatch.setattr(copying, "BATCH_BYTES", 2000)
    steps: list[tuple[str, int, int]] = []
    async with Callboard.open(path) as board:
        done = await board.copy(postgres_url, lambda *step: steps.append(step))
        await asyncio.sleep(0)
    assert {what for what, _, _ in steps} == {"Copying events", "Copying tables", "Comparing"}
    assert steps[-1][1] == steps[-1][2]
    async with Callboard.open(path) as board, Callboard.open(postgres_url) as copy:
        assert await contents(copy) == await contents(board)
        assert done.written == done.compared.events >= len(await board.log.read_all(0))
        assert done.compared.tokens == 2


async def test_a_copy_can_be_used(path: Path, postgres_url: str):
    await copied(path, postgres_url)
    async with Callboard.open(postgres_url, [trip]) as board:
        last = await board.log.last_sequence()
        # A question is answered, forks of a deleted session run, and new ones get new keys.
        (question,) = await board.inbox("waiting")
        await board.answer(question.id, True)
        assert (await board.drive("waiting")).status == "completed"
        assert (await board.drive("grandchild")).status == "waiting"
        await board.run(trip, "Oslo", session_id="new")
        await board.log.append("owned", several(1), Writing(claim=True))
        lease = await board.log.lease("owned")
        assert lease is not None
        assert (lease.owner, lease.epoch) == (board.log.owner, 2)
        assert (await board.log.read_all(last))[0][0] == last + 1
        before = await contents(board)
        await board.rebuild()
        assert await contents(board) == before


async def test_a_second_copy_changes_nothing(path: Path, postgres_url: str):
    first = await copied(path, postgres_url)
    second = await copied(path, postgres_url)
    assert (second.written, second.compared) == (0, first.compared)


async def test_an_empty_database_is_copied(tmp_path: Path, postgres_url: str):
    for _ in range(2):
        done = await copied(tmp_path / "empty.db", postgres_url)
        assert (done.compared.events, done.compared.streams) == (0, 0)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ("UPDATE events SET payload = '{}' WHERE position = 2 AND seq < 9", "event 2 of waiting"),
        ("DELETE FROM events WHERE seq = 3", "event 3 of waiting"),
        ("UPDATE streams SET head = head + 1 WHERE id = 'child'", "streams, child"),
        ("UPDATE streams SET base_position = 4 WHERE id = 'orphan'", "streams, orphan"),
        ("UPDATE human_interactions SET prompt = prompt || '.'", "human_interactions, "),
        ("DELETE FROM sessions WHERE id = 'waiting'", "sessions, waiting"),
        ("INSERT INTO wakeups VALUES ('z', 'z', 1)", "wakeups, z, z"),
        ("UPDATE tokens SET revoked_at = NULL", "tokens, "),
    ],
)
async def test_a_difference_is_found(
    path: Path, postgres: PostgresServer, postgres_url: str, change: str, where: str
):
    await copied(path, postgres_url)
    postgres.execute(change, postgres_url.rpartition("/")[2])
    with pytest.raises(StoreError, match="differs from the source") as refused:
        await copied(path, postgres_url)
    assert str(refused.value.context["where"]).startswith(where)


async def test_a_difference_keeps_an_unfinished_copy_from_being_used(
    path: Path, postgres: PostgresServer, postgres_url: str, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(copying, "compare", stopped)
        with pytest.raises(StoreError, match="stopped"):
            await copied(path, postgres_url)
    name = postgres_url.rpartition("/")[2]
    postgres.execute("UPDATE events SET name = 'planted' WHERE seq = 2", name)
    with pytest.raises(StoreError, match="event 2 of waiting"):
        await copied(path, postgres_url)
    assert postgres.execute("SELECT count(*) FROM streams", name) == [(0,)]


def stopped(*_: object) -> None:
    raise StoreError("stopped")


async def test_a_target_with_other_data_is_refused(path: Path, tmp_path: Path, postgres_url: str):
    log = PostgresLog.open(postgres_url)
    await log.append("other", several(1), Writing(claim=True))
    with pytest.raises(StoreBusy, match="open"):
        await copied(path, postgres_url)
    await log.close()
    with pytest.raises(ValidationError, match="already holds other data"):
        await copied(path, postgres_url)
    assert await _read(postgres_url, "other") == 1


async def _read(url: str, stream: str) -> int:
    log = PostgresLog.open(url)
    head = await log.head(stream)
    await log.close()
    return head


@pytest.mark.parametrize("grown", ["source", "target"])
async def test_a_finished_copy_that_differs_by_now_is_refused(
    path: Path, postgres_url: str, grown: str
):
    await copied(path, postgres_url)
    async with Callboard.open(path if grown == "source" else postgres_url) as board:
        await board.log.append("later", several(1))
    with pytest.raises(ValidationError, match="createdb"):
        await copied(path, postgres_url)


async def test_a_source_that_others_use_is_refused(path: Path, postgres_url: str):
    async with Callboard.open(path), Callboard.open(path) as board:
        with pytest.raises(StoreBusy, match=r"has .*x\.db open"):
            await board.copy(postgres_url)


async def test_no_one_writes_to_the_source_meanwhile(
    path: Path, postgres: PostgresServer, postgres_url: str, monkeypatch
):
    real = cast("Callable[..., object]", copying.compare)
    opened: list[Callboard] = []

    def compare(*given: object) -> object:
        locked = pytest.raises(sqlite3.OperationalError, match="locked")
        with closing(sqlite3.connect(path, timeout=0)) as other, locked:
            other.execute("BEGIN IMMEDIATE")
        opened.append(Callboard.open(path))
        return real(*given)

    monkeypatch.setattr(copying, "compare", compare)
    with pytest.raises(StoreBusy, match="Stop that process"):
        await copied(path, postgres_url)
    await opened[0].close()
    name = postgres_url.rpartition("/")[2]
    assert postgres.execute("SELECT seq FROM log", name) == [(0,)]


async def test_a_copy_can_be_cancelled(path: Path, postgres_url: str, monkeypatch):
    monkeypatch.setattr(copying, "BATCH_EVENTS", 1)
    async with Callboard.open(path) as board:
        started = asyncio.Event()
        task = asyncio.create_task(board.copy(postgres_url, lambda *_: started.set()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    done = await copied(path, postgres_url)
    assert done.written < done.compared.events


async def test_what_postgresql_cannot_store_is_said(tmp_path: Path, postgres_url: str):
    async with Callboard.open(tmp_path / "x.db") as board:
        await board.log.append("a\x00b", several(1))
        with pytest.raises(StoreError, match=r"streams\.id .* NUL"):
            await board.copy(postgres_url)


async def test_memory_and_postgresql_are_not_copied(postgres_url: str):
    async with Callboard.open(None) as board:
        with pytest.raises(ValidationError, match="no file"):
            await board.copy(postgres_url)
    async with Callboard.open(postgres_url) as board:
        with pytest.raises(ValidationError, match="pg_dump"):
            await board.copy(postgres_url)
