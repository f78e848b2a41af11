"""The write-ahead log is emptied beside the event loop, and never grows for long."""

import asyncio
import random
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from callboard.log.sqlite import checkpoint as sqlite_checkpoint
from callboard.log.sqlite import file as sqlite_file
from callboard.log.sqlite.file import PAGE_SIZE
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import PATIENCE, happened

PAGES = 100
CHANCE = random.Random(7)

WRITER = """
import asyncio, random, sys
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.log.sqlite.log import SqliteLog

async def main():
    log = SqliteLog.open(sys.argv[1])
    for _ in range(500):
        text = random.randbytes(50_000).hex()
        await log.append(sys.argv[2], [NewEvent(event_id(), "said", {"text": text}, 1)])
    await log.close()

asyncio.run(main())
"""


@pytest.fixture
async def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteLog]:
    monkeypatch.setattr(sqlite_checkpoint, "PAGES", PAGES)
    opened = SqliteLog.open(tmp_path / "log.db")
    yield opened
    await opened.close()


async def write(log: SqliteLog, pages: int) -> None:
    """Events that no compression makes much smaller."""
    for _ in range(pages * PAGE_SIZE // 50_000):
        await log.append("s", [happened("said", {"text": CHANCE.randbytes(50_000).hex()})])


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happens():
            await asyncio.sleep(0.01)


def log_size(path: Path) -> int:
    return path.with_name(path.name + "-wal").stat().st_size


def leave_it_to_the_thread(log: SqliteLog) -> None:
    log._database.execute("PRAGMA wal_autocheckpoint = 0")


async def test_pages_come_into_the_database_though_no_commit_moves_them(log: SqliteLog):
    leave_it_to_the_thread(log)
    before = log.path.stat().st_size
    await write(log, pages=2 * PAGES)
    await until(lambda: log.path.stat().st_size > before + PAGES * PAGE_SIZE // 2)


async def test_the_log_is_used_again_however_much_is_written(log: SqliteLog):
    leave_it_to_the_thread(log)
    for _ in range(6):
        before = log.path.stat().st_size
        await write(log, pages=2 * PAGES)
        await until(lambda before=before: log.path.stat().st_size > before)
        log._checkpoints.finish()
    assert log.path.stat().st_size > 8 * PAGES * PAGE_SIZE
    assert log_size(log.path) < 6 * PAGES * PAGE_SIZE


async def test_while_somebody_reads_the_log_is_kept_and_emptied_afterwards(log: SqliteLog):
    leave_it_to_the_thread(log)
    await write(log, pages=10)
    with closing(sqlite3.connect(log.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        (seen,) = reader.execute("SELECT count(*) FROM events").fetchone()
        await write(log, pages=2 * PAGES)
        log._checkpoints.finish()
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (seen,)
        held = log.path.stat().st_size
    await write(log, pages=2 * PAGES)
    await until(lambda: log.path.stat().st_size > held + PAGES * PAGE_SIZE // 2)


async def test_handles_that_write_little_leave_it_to_the_net(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    net = 2 * PAGES
    monkeypatch.setattr(sqlite_file, "NET", net)
    staying = SqliteLog.open(tmp_path / "log.db")
    largest = 0
    for _ in range(12):
        log = SqliteLog.open(tmp_path / "log.db")
        await write(log, pages=PAGES // 2)
        await log.close()
        largest = max(largest, log_size(log.path))
    assert staying.path.stat().st_size > 2 * net * PAGE_SIZE
    assert largest < 2 * net * PAGE_SIZE
    await staying.close()


async def test_two_processes_that_write_at_once(log: SqliteLog):
    writers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, log.path, stream)
        for stream in ("a", "b")
    ]
    assert [await writer.wait() for writer in writers] == [0, 0]
    assert await log.head("a") == await log.head("b") == 500
    assert log.path.stat().st_size + log_size(log.path) > 1.5 * sqlite_file.NET * PAGE_SIZE
    assert log_size(log.path) < 1.1 * sqlite_file.NET * PAGE_SIZE


async def test_a_log_that_cannot_be_emptied_is_left_to_whoever_comes_next(log: SqliteLog):
    tried: list[bool] = []

    def refused() -> sqlite3.Connection:
        tried.append(True)
        raise sqlite3.OperationalError("unable to open database file")

    log._checkpoints._connect = refused
    await write(log, pages=2 * PAGES)
    log._checkpoints.finish()
    assert tried
    assert log._checkpoints._running is not None
    assert log._checkpoints._running.exception() is None
