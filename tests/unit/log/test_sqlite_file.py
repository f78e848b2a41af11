"""The file: private, ours, durable, and refused when it is not."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from callboard.errors import StoreBusy, StoreError, StoreForeign
from callboard.log.sqlite import file as sqlite_file
from callboard.log.sqlite.file import APPLICATION_ID, connect, create_private, prepare, recognise
from callboard.log.sqlite.log import SqliteLog
from callboard.log.sqlite.setup import live_folder
from callboard.log.write_lock import Turnstile
from callboard.testing.log_suite_material import several


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(params=[0o000, 0o022, 0o277])
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield
    os.umask(before)


async def test_every_file_is_private_whatever_the_umask(umask: None, tmp_path: Path):
    path = tmp_path / "log.db"
    log = SqliteLog.open(path)
    await log.append("s", several(1))
    files = [path, tmp_path / "log.db-wal", tmp_path / "log.db-shm", *live_folder(path).iterdir()]
    assert {file.name: mode(file) for file in files} == {file.name: 0o600 for file in files}
    assert mode(live_folder(path)) == 0o700
    await log.close()


async def test_the_folder_is_made_private(tmp_path: Path):
    path = tmp_path / "new" / "log.db"
    await SqliteLog.open(path).close()
    assert mode(path.parent) == 0o700


async def test_the_settings_that_durability_needs(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db")

    def pragma(name: str) -> object:
        return log._database.execute(f"PRAGMA {name}").fetchone()[0]

    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2
    assert pragma("page_size") == 4096
    assert pragma("application_id") == APPLICATION_ID
    assert pragma("busy_timeout") == 0
    await log.close()


async def test_an_older_database_keeps_its_page_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as older:
        older.setattr(sqlite_file, "PAGE_SIZE", 8192)
        log = SqliteLog.open(tmp_path / "log.db")
        await log.append("s", several(2))
        await log.close()
    log = SqliteLog.open(tmp_path / "log.db")
    await log.append("s", several(2))
    assert log._database.execute("PRAGMA page_size").fetchone() == (8192,)
    assert len(await log.read("s")) == 4
    await log.close()


async def test_closing_leaves_only_the_database(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db")
    await log.append("s", several(1))
    await log.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.db", "log.db-live"]
    left = sorted(file.name for file in (tmp_path / "log.db-live").iterdir())
    assert left == ["write.main", "write.next"]


@pytest.mark.parametrize("application", [0, 42])
def test_somebody_elses_database_is_left_alone(tmp_path: Path, application: int):
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute(f"PRAGMA application_id = {application}")
    theirs.execute("CREATE TABLE bookmarks (url)")
    theirs.commit()
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreForeign, match=r"theirs\.db is a database, but not one of Callboard"):
        SqliteLog.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["theirs.db"]


async def test_an_empty_file_becomes_a_log(tmp_path: Path):
    (tmp_path / "log.db").touch()
    log = SqliteLog.open(str(tmp_path / "log.db"))
    await log.append("s", several(1))
    await log.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Cannot create .*log\.db: .*file is a file"):
        SqliteLog.open(tmp_path / "file" / "log.db")


def test_a_folder_instead_of_a_file_is_refused(tmp_path: Path):
    with pytest.raises(StoreError):
        SqliteLog.open(tmp_path)


def test_no_place_for_the_locks_is_said_so(tmp_path: Path):
    (tmp_path / "log.db-live").touch()
    with pytest.raises(StoreError, match="keeps its locks there"):
        SqliteLog.open(tmp_path / "log.db")


def test_a_disk_without_a_write_ahead_log_is_refused(tmp_path: Path):
    database = sqlite3.connect(":memory:")
    with pytest.raises(StoreError, match="local disk"):
        prepare(database, tmp_path)
    database.close()


def test_an_existing_file_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "log.db"
    path.touch(mode=0o640)
    path.chmod(0o640)
    create_private(path)
    assert mode(path) == 0o640


def held(path: Path) -> Turnstile:
    """The write lock, as a process holds it that hangs."""
    live_folder(path).mkdir(mode=0o700, exist_ok=True)
    turnstile = Turnstile(live_folder(path))
    turnstile.enter(1)
    return turnstile


async def test_opening_does_not_wait_for_ever(tmp_path: Path):
    path = tmp_path / "log.db"
    other = held(path)
    with pytest.raises(StoreBusy, match=f"pid {os.getpid()}"):
        SqliteLog.open(path, lock_timeout=0.01)
    other.leave()
    await SqliteLog.open(path, lock_timeout=0.01).close()
    other.close()


async def test_what_needs_no_change_is_opened_and_read_beside_a_writer_that_hangs(tmp_path: Path):
    path = tmp_path / "log.db"
    log = SqliteLog.open(path)
    await log.append("s", several(1))
    await log.close()
    other = held(path)
    log = SqliteLog.open(path, lock_timeout=0.01)
    assert await log.head("s") == 1
    with pytest.raises(StoreBusy):
        await log.append("s", several(1))
    other.close()
    await log.append("s", several(1))
    await log.close()


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("callboard.log.sqlite.file.open_private", refused)
    with pytest.raises(StoreError, match=r"Cannot create .*: Permission denied"):
        SqliteLog.open(tmp_path / "log.db")


def test_two_may_create_the_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def slower(*_: object) -> int:
        raise FileExistsError

    monkeypatch.setattr("callboard.log.sqlite.file.open_private", slower)
    create_private(tmp_path / "log.db")


async def test_a_file_that_somebody_looks_into_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Switching to the write-ahead log fails at once while anybody reads."""
    tries: list[object] = []

    def busy_at_first(database: sqlite3.Connection, path: Path) -> None:
        tries.append(path)
        if len(tries) < 3:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        prepare(database, path)

    monkeypatch.setattr("callboard.log.sqlite.setup.prepare", busy_at_first)
    await SqliteLog.open(tmp_path / "log.db").close()
    assert len(tries) == 3


def test_an_error_while_opening_is_told_in_our_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(database: sqlite3.Connection, path: Path) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("callboard.log.sqlite.setup.prepare", fails)
    with pytest.raises(StoreError, match="disk I/O error"):
        SqliteLog.open(tmp_path / "log.db")


def test_a_file_that_another_process_makes_ours_meanwhile_is_ours(tmp_path: Path):
    path = tmp_path / "new.db"
    create_private(path)
    with closing(connect(path)) as looking, closing(connect(path)) as making:

        def seen(statement: str) -> None:
            if "sqlite_master" in statement:
                making.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                making.execute("CREATE TABLE events (x)")

        looking.set_trace_callback(seen)
        recognise(looking, path)
        assert making.execute("SELECT count(*) FROM events").fetchone() == (0,)
