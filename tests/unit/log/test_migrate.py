"""Schemas go forward, one recorded step at a time."""

import sqlite3
from pathlib import Path

import pytest

from callboard.errors import StoreError, StoreTooNew
from callboard.events.rows import Query
from callboard.log.sqlite.file import connect, create_private, prepare
from callboard.log.sqlite.log import SqliteLog
from callboard.log.sqlite.migrate import Migration, known_migrations, migrate
from callboard.testing.log_suite_material import several

FIRST = Migration("0001_first.sql", "-- a comment; with a semicolon\nCREATE TABLE a (x);\n")
SECOND = Migration("0002_second.sql", "ALTER TABLE a ADD COLUMN y;\nINSERT INTO a VALUES (1, 2);")
BROKEN = Migration("0002_broken.sql", "INSERT INTO a VALUES (1);\nINSERT INTO nowhere VALUES (1);")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def database(path: Path):
    create_private(path)
    opened = connect(path)
    yield opened
    opened.close()


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.before-migration-*"))


def test_a_comment_at_the_end_is_no_statement(database, path):
    migrate(database, path, 7, [Migration("0001_a.sql", FIRST.sql + "-- the end\n")])
    assert database.execute("SELECT * FROM a").fetchall() == []


def test_our_own_steps_are_numbered_without_gaps():
    versions = [step.version for step in known_migrations()]
    assert versions == list(range(1, len(versions) + 1))


def test_a_new_database_gets_every_step_and_no_backup(database, path):
    migrate(database, path, 7, [FIRST, SECOND])
    assert database.execute("SELECT * FROM a").fetchall() == [(1, 2)]
    assert database.execute("SELECT * FROM migrations").fetchall() == [
        (1, FIRST.name, FIRST.checksum, 7),
        (2, SECOND.name, SECOND.checksum, 7),
    ]
    assert backups(path) == []


def test_what_was_applied_is_not_applied_again(database, path):
    migrate(database, path, 7, [FIRST, SECOND])
    migrate(database, path, 8, [FIRST, SECOND])
    assert database.execute("SELECT * FROM a").fetchall() == [(1, 2)]
    assert backups(path) == []


def test_an_older_database_is_copied_before_it_is_changed(database, path):
    migrate(database, path, 7, [FIRST])
    database.execute("INSERT INTO a VALUES ('old')")
    migrate(database, path, 8, [FIRST, SECOND])
    (backup,) = backups(path)
    assert backup.name == "log.db.before-migration-from-1"
    assert backup.stat().st_mode & 0o777 == 0o600
    copy = sqlite3.connect(backup)
    assert copy.execute("SELECT * FROM a").fetchall() == [("old",)]
    copy.close()


def test_a_backup_is_never_overwritten(database, path):
    migrate(database, path, 7, [FIRST])
    for _ in range(2):
        with pytest.raises(sqlite3.OperationalError):
            migrate(database, path, 8, [FIRST, BROKEN])
    assert [backup.name[-2:] for backup in backups(path)] == ["-1", "-2"]


def test_a_step_that_fails_leaves_nothing_of_itself(database, path):
    migrate(database, path, 7, [FIRST])
    with pytest.raises(sqlite3.OperationalError):
        migrate(database, path, 8, [FIRST, BROKEN])
    assert database.execute("SELECT * FROM a").fetchall() == []
    assert database.execute("SELECT version FROM migrations").fetchall() == [(1,)]
    migrate(database, path, 9, [FIRST, SECOND])


def test_a_newer_database_is_refused_with_both_versions(database, path):
    migrate(database, path, 7, [FIRST, SECOND])
    with pytest.raises(StoreTooNew, match="has schema version 2, and this Callboard knows 1"):
        migrate(database, path, 8, [FIRST])


def test_an_edited_step_is_refused(database, path):
    migrate(database, path, 7, [FIRST])
    edited = Migration(FIRST.name, FIRST.sql + "CREATE TABLE b (x);")
    with pytest.raises(StoreError, match="Never edit an applied migration"):
        migrate(database, path, 8, [edited, SECOND])
    assert database.execute("SELECT version FROM migrations").fetchall() == [(1,)]


async def test_a_log_of_a_newer_callboard_is_left_as_it_is(path: Path):
    log = SqliteLog.open(path)
    await log.append("s", several(2))
    await log.close()
    editor = sqlite3.connect(path)
    editor.execute("INSERT INTO migrations VALUES (99, '0099_future.sql', 'x', 0)")
    editor.commit()
    editor.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="99"):
        SqliteLog.open(path)
    assert path.read_bytes() == before
    with pytest.raises(StoreTooNew):
        SqliteLog.open(path)


async def test_plates_from_before_hosts_keep_their_sessions(path):
    old = sqlite3.connect(path, isolation_level=None)
    prepare(old, path)
    migrate(old, path, 1, known_migrations()[:6])
    old.execute(
        "INSERT INTO plates (id, agent, session_id, created_at, updated_at, status, status_at, "
        "project_path, last_event) VALUES ('p1', 'claude', 's1', 1, 2, 'idle', 2, '/p', 'stop')"
    )
    old.execute("INSERT INTO plate_sessions VALUES ('s1', 'p1'), ('s0', 'p1')")
    old.close()
    log = SqliteLog.open(path)
    try:
        (plate,) = await log.rows(Query("plates"))
        assert (plate["host"], plate["host_name"], plate["boot_id"]) == ("", "", "")
        kept = await log.rows(Query("plate_sessions", {"plate": "p1"}))
        assert {row["session_id"] for row in kept} == {"s0", "s1"}
    finally:
        await log.close()


async def test_a_database_of_the_first_version_is_lifted_and_loses_nothing(path):
    old = sqlite3.connect(path, isolation_level=None)
    prepare(old, path)
    migrate(old, path, 1, known_migrations()[:1])
    old.execute(
        "INSERT INTO streams (key, id, base, base_position, head, updated_at) "
        "VALUES (1, 'parent', NULL, 0, 3, 7), (2, 'child', 1, 2, 3, 8)"
    )
    old.executemany(
        "INSERT INTO events (stream, position, id, name, version, at, payload) "
        "VALUES (?, ?, ?, 'happened', 1, 7, '{}')",
        [(1, 1, "a"), (1, 2, "b"), (1, 3, "c"), (2, 3, "d")],
    )
    old.execute("INSERT INTO sessions (id, workflow, created_at) VALUES ('parent', 'w', 7)")
    old.execute("INSERT INTO sessions (id, workflow, created_at) VALUES ('child', 'w', 8)")
    old.close()
    log = SqliteLog.open(path)
    try:
        assert path.with_name(f"{path.name}.before-migration-from-1").exists()
        assert [row["id"] for row in await log.rows(Query("sessions"))] == ["child", "parent"]
        await log.delete("parent")
        assert await log.trim() == 1
        assert [event.id for event in await log.read("child")] == ["a", "b", "d"]
    finally:
        await log.close()
