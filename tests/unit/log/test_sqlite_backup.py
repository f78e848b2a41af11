"""Copies of a database in use, and giving free space back."""

import asyncio
import random
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.app import Callboard
from callboard.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, ValidationError
from callboard.events.rows import Query
from callboard.log.sqlite import backup as sqlite_backup
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import (
    changing,
    described,
    happened,
    places,
    session_row,
    several,
)

WRITER = """
import asyncio, sys
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.log.sqlite.log import SqliteLog

async def main():
    log = SqliteLog.open(sys.argv[1])
    number = 0
    while True:
        number += 1
        event = NewEvent(event_id(), "counted", {"number": number}, 1)
        await log.append("a", [event])
        await log.append("b", [event])
        if number == 1:
            print("writing", flush=True)

asyncio.run(main())
"""


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[SqliteLog]:
    log = SqliteLog.open(tmp_path / "log.db", described)
    yield log
    await log.close()


async def fill(log: SqliteLog, stream: str = "s", megabytes: int = 2) -> None:
    """Events that no compression makes small."""
    chance = random.Random(1)
    for _ in range(megabytes * 10):
        text = chance.randbytes(100_000).hex()
        await log.append(stream, [happened("said", {"text": text})])


async def test_a_copy_is_whole_and_private(log: SqliteLog, tmp_path: Path):
    await log.append("s", [changing(session_row("s")), *several(3)])
    told: list[tuple[int, int]] = []
    path = await log.backup(tmp_path / "copies" / "copy.db", lambda *pages: told.append(pages))
    await asyncio.sleep(0)
    assert path == tmp_path / "copies" / "copy.db"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["copy.db"]
    assert told[-1][0] == told[-1][1] > 0
    copy = SqliteLog.open(path, described)
    try:
        assert await copy.read("s") == await log.read("s")
        assert await copy.rows(Query("sessions")) == await log.rows(Query("sessions"))
        await copy.append("s", several(1))
    finally:
        await copy.close()
    assert await log.head("s") == 4


async def test_a_copy_is_made_in_slices(
    log: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_backup, "_PAGES", 16)
    await fill(log)
    told: list[tuple[int, int]] = []
    await log.backup(tmp_path / "copy.db", lambda *pages: told.append(pages))
    await asyncio.sleep(0)
    assert len(told) > 10
    assert told == sorted(told)


async def test_a_copy_shows_one_moment_while_another_process_writes(
    log: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Every commit of the writer would begin the copy anew, if it were not held at a moment."""
    monkeypatch.setattr(sqlite_backup, "_PAGES", 1)
    await fill(log, megabytes=4)
    arguments = (sys.executable, "-c", WRITER, str(log.path))
    writer = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    try:
        assert writer.stdout is not None
        assert await writer.stdout.readline() == b"writing\n"
        before = await log.head("a")
        told: list[tuple[int, int]] = []
        async with asyncio.timeout(60):
            await log.backup(tmp_path / "copy.db", lambda *pages: told.append(pages))
        assert told == sorted(told)
        after = await log.head("a")
        async with asyncio.timeout(90):
            while await log.head("a") == after:
                await asyncio.sleep(0)
    finally:
        writer.kill()
        await writer.wait()
    copy = SqliteLog.open(tmp_path / "copy.db", described)
    try:
        a, b = await copy.head("a"), await copy.head("b")
        assert before <= a <= after
        assert a - b in (0, 1)
        assert places(await copy.read("a")) == list(range(1, a + 1))
        assert await copy.read("s") == await log.read("s")
    finally:
        await copy.close()


async def test_what_is_there_is_not_overwritten_unless_told(log: SqliteLog, tmp_path: Path):
    await log.append("s", several(1))
    path = tmp_path / "copy.db"
    path.write_text("precious")
    with pytest.raises(ValidationError, match="already exists") as refused:
        await log.backup(path)
    assert refused.value.field == "path"
    assert path.read_text() == "precious"
    await log.backup(path, overwrite=True)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM events").fetchone() == (1,)
    assert path.stat().st_mode & 0o777 == 0o600


async def test_the_database_is_not_its_own_copy(log: SqliteLog, tmp_path: Path):
    link = tmp_path / "link.db"
    link.symlink_to(log.path)
    for path in (log.path, link):
        with pytest.raises(ValidationError, match="is the database itself"):
            await log.backup(path, overwrite=True)
    with pytest.raises(ValidationError, match="is a folder"):
        await log.backup(tmp_path, overwrite=True)


async def test_a_damaged_database_is_told_of_and_no_copy_kept(log: SqliteLog, tmp_path: Path):
    await fill(log, megabytes=1)
    await log.close()
    with log.path.open("r+b") as file:
        file.seek(8192 * 20)
        file.write(b"\xff" * 8192 * 3)
    damaged = SqliteLog.open(log.path, described)
    try:
        with pytest.raises(StoreCorrupt):
            await damaged.backup(tmp_path / "copy.db")
    finally:
        await damaged.close()
    assert [file.name for file in tmp_path.iterdir() if "copy" in file.name] == []


@pytest.mark.parametrize("name", ["copy.db", ".copy.db"])
async def test_where_nothing_can_be_written_that_is_said(log: SqliteLog, tmp_path: Path, name: str):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        await log.backup(tmp_path / "file" / name)


async def test_a_copy_that_does_not_fit_leaves_nothing(
    log: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await log.append("s", several(1))

    def full(*given: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(sqlite_backup, "_copy", full)
    with pytest.raises(StoreFull):
        await log.backup(tmp_path / "copies" / "copy.db")
    assert list((tmp_path / "copies").iterdir()) == []


async def test_free_space_is_given_back(log: SqliteLog):
    await fill(log, "goes", megabytes=3)
    await fill(log, "stays", megabytes=1)
    wanted = await log.read("stays")
    assert await log.compact() == 0
    await log.delete("goes")
    while await log.trim(7):
        pass
    freed = await log.compact()
    assert freed is not None
    assert freed > 2_000_000
    assert log.path.stat().st_size < 3_000_000
    assert await log.read("stays") == wanted
    assert await log.compact() == 0
    assert (await log.append("stays", several(1))).head == len(wanted) + 1


async def freed_much(log: SqliteLog) -> None:
    await fill(log, "goes", megabytes=1)
    await log.append("stays", several(1))
    await log.delete("goes")
    while await log.trim():
        pass


async def test_a_file_that_others_use_stays_as_it_is(log: SqliteLog):
    await freed_much(log)
    other = SqliteLog.open(log.path, described)
    assert await log.compact() is None
    other.crash()
    assert (await log.compact() or 0) > 0


async def test_a_disk_without_room_leaves_the_file_as_it_is(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    await freed_much(log)
    monkeypatch.setattr("callboard.log.sqlite.log.has_room", lambda path: False)
    assert await log.compact() is None


async def test_a_program_that_locks_the_file_is_waited_for_and_told_of(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    await freed_much(log)

    def busy(database: sqlite3.Connection) -> int:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    monkeypatch.setattr("callboard.log.sqlite.log.shrink", busy)
    with pytest.raises(StoreBusy):
        await log.compact()
    await log.append("stays", several(1))


async def test_what_is_in_memory_has_no_file(tmp_path: Path):
    async with Callboard.open() as board:
        for work in (board.backup(tmp_path / "copy.db"), board.compact()):
            with pytest.raises(ValidationError, match="in-memory log"):
                await work
