"""`callboard copy` and `callboard migrate`, as people and programs call them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pexpect
import psycopg
import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.faults.migrating import NEWEST, build, version_of
from tests.postgres import PostgresServer

from callboard.log.sqlite.log import SqliteLog

pytestmark = pytest.mark.timeout(120)


def waiting(callboard: CallboardCommand) -> str:
    """A session with an open question, in t.db."""
    return callboard.run("flows.py:trip", "--input", "Rome", code=3)


def test_a_database_is_moved_to_postgresql(callboard: CallboardCommand, postgres_url: str):
    session = waiting(callboard)
    callboard.here("token", "create", "--name", "ci", "--scope", "read")
    (done,) = callboard.here("copy", "--from", "t.db", "--to", postgres_url, "--json").json
    assert done["ok"] is True
    assert (done["streams"], done["tokens"]) == (1, 1)
    assert done["events"] == done["eventsWritten"] > 5
    assert len(done["digest"]) == 64
    shown = [
        callboard.here(command, "--json", CALLBOARD_DB=db).json
        for command in ("sessions", "inbox")
        for db in ("t.db", postgres_url)
    ]
    assert shown[0] == shown[1]
    assert shown[2] == shown[3]
    assert [one["sessionId"] for one in shown[0]] == [session]
    again = callboard.here("copy", "--from", "t.db", "--to", postgres_url).out
    assert "already has 1 stream" in again


def test_a_copy_at_a_terminal_shows_how_far_it_is(callboard: CallboardCommand, postgres_url: str):
    waiting(callboard)
    screen = callboard.terminal("copy", "--from", "t.db", "--to", postgres_url)
    screen.expect("Copying events")
    screen.expect("Comparing")
    screen.expect(r"Copied 1 stream, \d+ events and 0 tokens")
    screen.expect(pexpect.EOF)


def test_wrong_sources_and_targets(callboard: CallboardCommand, postgres_url: str):
    def refused(source: str, target: str) -> str:
        return callboard.here("copy", "--from", source, "--to", target, code=2).err

    assert "There is no database" in refused("no.db", postgres_url)
    waiting(callboard)
    assert "same database" in refused("t.db", "./t.db")
    assert "same database" in refused(postgres_url, postgres_url)
    assert "callboard backup" in refused("t.db", "u.db")
    assert "pg_dump" in refused(postgres_url, postgres_url.replace("shared", "other"))
    assert "not a supported database" in refused("t.db", "mysql://ann:secret@host/x")
    assert "secret" not in refused("t.db", "mysql://ann:secret@host/x")
    (callboard.folder / "notes.txt").write_text("not a database, but long enough to look at" * 9)
    assert "not a database" in refused("notes.txt", postgres_url)
    assert not (callboard.folder / "no.db").exists()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:secret@127.0.0.1:1/x",
        "postgresql://ann@127.0.0.1:1/x?password=secret",
        "postgresql://ann:secret%zz@127.0.0.1:1/x",
        "postgresql://ann:secret/@127.0.0.1:1/x",
    ],
)
def test_a_password_is_never_shown(callboard: CallboardCommand, address: str):
    waiting(callboard)
    for words in (
        ("copy", "--from", "t.db", "--to", address),
        ("copy", "--from", address, "--to", "t.db"),
        ("copy", "--from", address, "--to", address),
        ("migrate", "--db", address),
        ("migrate", "--db", address, "--json"),
    ):
        said = callboard.here(*words, code=1 if _is_reached(words, address) else 2)
        assert "secret" not in said.out + said.err


def _is_reached(words: tuple[str, ...], address: str) -> bool:
    """Whether the address is read without an error, and is where the command goes."""
    return (
        "secret%zz" not in address
        and "secret/" not in address
        and words[1:3] != ("--from", address)
    )


def test_a_database_that_is_open_is_refused(callboard: CallboardCommand, postgres_url: str):
    waiting(callboard)
    other = SqliteLog.open(callboard.folder / "t.db")
    try:
        refused = callboard.here("copy", "--from", "t.db", "--to", postgres_url, code=1)
        assert "Stop that process" in refused.err
    finally:
        other.crash()


def test_a_planted_difference_ends_with_an_error(
    callboard: CallboardCommand, postgres: PostgresServer, postgres_url: str
):
    waiting(callboard)
    callboard.here("copy", "--from", "t.db", "--to", postgres_url)
    postgres.execute("UPDATE sessions SET title = 'x'", postgres_url.rpartition("/")[2])
    refused = callboard.here("copy", "--from", "t.db", "--to", postgres_url, code=1)
    assert "differs from the source (sessions, " in refused.err


def test_sessions_in_postgresql_are_pruned(callboard: CallboardCommand, postgres_url: str):
    callboard.run("flows.py:trip", "--input", "Rome", "--auto-approve", code=0)
    callboard.here("copy", "--from", "t.db", "--to", postgres_url)
    words = ("prune", "--older-than", "1h", "--yes", "--json", "--db", postgres_url)
    assert callboard.here(*words).json[0]["sessions"] == 0
    sql = "UPDATE streams SET updated_at = 1"
    psycopg.connect(postgres_url, autocommit=True).execute(sql).connection.close()
    (done,) = callboard.here(*words).json
    assert (done["sessions"], done["bytesFreed"]) == (1, 0)


def test_a_file_is_migrated(callboard: CallboardCommand):
    build(callboard.folder / "t.db", 3)
    said = callboard.here("migrate").out
    assert said == f"Migrated t.db from schema version 3 to {NEWEST}.\n"
    assert version_of(callboard.folder / "t.db") == NEWEST
    assert (callboard.folder / "t.db.before-migration-from-3").exists()
    assert callboard.here("migrate").out == f"t.db is up to date (schema version {NEWEST}).\n"
    (told,) = callboard.here("migrate", "--json").json
    assert told == {"ok": True, "database": "t.db", "from": NEWEST, "to": NEWEST}


def test_a_new_file_is_created(callboard: CallboardCommand):
    (told,) = callboard.here("migrate", "--db", "new.db", "--json").json
    assert told == {"ok": True, "database": "new.db", "from": None, "to": NEWEST}
    assert version_of(callboard.folder / "new.db") == NEWEST


def test_postgresql_is_migrated(callboard: CallboardCommand, postgres: PostgresServer):
    url = postgres.create()
    said = callboard.here("migrate", "--db", url.replace("postgres@", "postgres:secret@")).out
    assert said == f"Created schema version {NEWEST} in {url}.\n"
    assert callboard.here("migrate", "--db", url).out == (
        f"{url} is up to date (schema version {NEWEST}).\n"
    )
    postgres.execute("INSERT INTO migrations VALUES (99, 'x', 'x', 0)", url.rpartition("/")[2])
    assert "schema version 99" in callboard.here("migrate", "--db", url, code=2).err


def test_what_is_not_ours_is_not_migrated(callboard: CallboardCommand):
    file = callboard.folder / "other.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE theirs (x)")
    before = Path(file).read_bytes()
    assert "not one of Callboard's" in callboard.here("migrate", "--db", str(file), code=2).err
    assert file.read_bytes() == before
