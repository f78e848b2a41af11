"""`callboard backup` and `callboard prune`, as people and programs call them."""

import re
import sqlite3
from contextlib import closing
from typing import Any

import pexpect
import pytest
from tests.acceptance.cli_process import CallboardCommand

DAY = 86_400_000


def completed(callboard: CallboardCommand, days_ago: int = 0) -> str:
    """A session that ended so many days ago."""
    done = callboard.here("run", "flows.py:trip", "--input", "Rome", "--auto-approve", "--json")
    session = str(done.json[0]["sessionId"])
    age(callboard, session, days_ago)
    return session


def waiting(callboard: CallboardCommand, days_ago: int = 0) -> str:
    """A session that has waited for so many days."""
    done = callboard.here("run", "flows.py:trip", "--input", "Rome", "--json", code=3)
    session = str(done.json[0]["sessionId"])
    age(callboard, session, days_ago)
    return session


def age(callboard: CallboardCommand, session: str, days: int) -> None:
    with closing(sqlite3.connect(callboard.folder / "t.db")) as database, database:
        sql = "UPDATE streams SET updated_at = updated_at - ? WHERE id = ?"
        database.execute(sql, (days * DAY, session))


def listed(callboard: CallboardCommand) -> set[str]:
    return {info["sessionId"] for info in callboard.here("sessions", "--json").json}


def test_only_what_ended_long_ago_is_removed(callboard: CallboardCommand):
    old, fresh = completed(callboard, 31), completed(callboard, 29)
    cancelled = waiting(callboard)
    callboard.here("cancel", cancelled)
    age(callboard, cancelled, 99)
    asking = waiting(callboard, 99)
    seen = callboard.here("prune", "--older-than", "30d", "--dry-run", "--json").json
    assert [(one["sessionId"], one["status"]) for one in seen] == [
        (cancelled, "cancelled"),
        (old, "completed"),
    ]
    assert listed(callboard) == {old, fresh, cancelled, asking}
    said = callboard.here("prune", "--older-than", "30d", "--dry-run").out
    assert said.startswith("Would delete 2 sessions (1 completed, 1 cancelled; ")
    (done,) = callboard.here("prune", "--older-than", "30d", "--yes", "--json").json
    assert done["ok"] is True
    assert done["sessions"] == 2
    assert done["events"] == sum(one["position"] for one in seen)
    assert listed(callboard) == {fresh, asking}
    assert "There is no session" in callboard.here("show", old, code=2).err
    assert callboard.here("prune", "--older-than", "30d", "--yes").out == ("Nothing to delete.\n")
    (nothing,) = callboard.here("prune", "--older-than", "30d", "--yes", "--json").json
    assert nothing == {"ok": True, "sessions": 0, "events": 0, "bytesFreed": 0}


def test_how_they_ended_can_be_chosen(callboard: CallboardCommand):
    done, broken = completed(callboard, 9), "flows.py:broken"
    failed = str(callboard.here("run", broken, "--json", code=1).json[0]["sessionId"])
    age(callboard, failed, 9)
    callboard.here("prune", "--older-than", "1w", "--status", "failed,cancelled", "--yes")
    assert listed(callboard) == {done}


@pytest.mark.parametrize("status", ["running", "", "failed,waiting", ","])
def test_what_has_not_ended_cannot_be_chosen(callboard: CallboardCommand, status: str):
    completed(callboard)
    refused = callboard.here("prune", "--older-than", "1d", "--status", status, code=2)
    assert "completed, failed, cancelled" in refused.err


@pytest.mark.parametrize("period", ["", "30", "0d", "d", "-1d", "1.5d", "30 d", "30y"])
def test_a_period_that_is_none(callboard: CallboardCommand, period: str):
    assert "is not a period" in callboard.here("prune", "--older-than", period, code=2).err


def test_without_a_terminal_it_must_be_said_that_it_is_meant(callboard: CallboardCommand):
    session = completed(callboard, 2)
    refused = callboard("prune", "--older-than", "1d", code=2)
    assert "This would permanently delete 1 session" in refused.err
    assert "--yes" in refused.err
    assert listed(callboard) == {session}


def test_at_a_terminal_one_is_asked(callboard: CallboardCommand):
    session = completed(callboard, 2)
    screen = callboard.terminal("prune", "--older-than", "1d")
    screen.expect("This permanently deletes 1 session")
    screen.expect("Continue")
    screen.sendline("n")
    screen.expect(pexpect.EOF)
    assert listed(callboard) == {session}
    screen = callboard.terminal("prune", "--older-than", "1d")
    screen.expect("Continue")
    screen.sendline("y")
    screen.expect("Deleting sessions")
    screen.expect("Deleted 1 session, ")
    screen.expect(pexpect.EOF)
    assert listed(callboard) == set()


def test_the_file_is_made_shorter(callboard: CallboardCommand):
    for _ in range(3):
        fat(callboard, completed(callboard, 9))
    before = (callboard.folder / "t.db").stat().st_size
    done = callboard.here("prune", "--older-than", "1d", "--yes")
    assert re.search(r"Deleted 3 sessions, \d+ events\.\nThe file is [\d.]+ MB smaller\.", done.out)
    assert (callboard.folder / "t.db").stat().st_size < before / 2


def test_a_file_that_others_use_is_left_as_long_as_it_is(callboard: CallboardCommand):
    fat(callboard, completed(callboard, 9))
    other = callboard.start("run", "flows.py:nap")
    try:
        assert other.stdout is not None
        while "napping" not in other.stdout.readline():
            pass
        done = callboard.here("prune", "--older-than", "1d", "--yes")
        assert "Deleted 1 session" in done.out
        assert "other processes have the database open" in done.out
    finally:
        other.kill()
        other.communicate()


def fat(callboard: CallboardCommand, session: str) -> None:
    """Let a session weigh a megabyte."""
    with closing(sqlite3.connect(callboard.folder / "t.db")) as database, database:
        sql = "UPDATE events SET payload = ? WHERE name = 'phase:entered' AND position < 4 "
        sql += "AND stream = (SELECT key FROM streams WHERE id = ?)"
        text = '{"phase": "plan", "visit": 1, "x": "' + "x" * 1_000_000 + '"}'
        assert database.execute(sql, (text, session)).rowcount == 1


def test_a_fork_of_what_was_removed_stays(callboard: CallboardCommand):
    session = completed(callboard, 9)
    forked: dict[str, Any] = callboard.here(
        "fork", session, "--phase", "book", "--no-run", "--json"
    ).json[0]
    callboard.here("prune", "--older-than", "1d", "--yes")
    child = str(forked["sessionId"])
    assert listed(callboard) == {child}
    shown = callboard.here("state", child, "--json").json[0]
    assert "Rome" in str(shown)
    assert callboard.here("resume", child, "--auto-approve", "--json").json[-1]


def test_a_backup_beside_the_database(callboard: CallboardCommand):
    session = completed(callboard)
    said = callboard.here("backup").out
    (copy,) = callboard.folder.glob("t-*.db")
    assert said.startswith("Copied ")
    assert said.strip().endswith(str(copy))
    assert copy.stat().st_mode & 0o777 == 0o600
    found = callboard.here("sessions", "--db", str(copy), "--json").json
    assert [info["sessionId"] for info in found] == [session]


def test_a_backup_to_a_path_which_is_overwritten_only_with_force(callboard: CallboardCommand):
    completed(callboard)
    (done,) = callboard.here("backup", "copy.db", "--json").json
    copy = callboard.folder / "copy.db"
    assert done == {"ok": True, "path": str(copy), "bytes": copy.stat().st_size}
    refused = callboard.here("backup", "copy.db", code=2)
    assert "--force" in refused.err
    second = completed(callboard)
    callboard.here("backup", "copy.db", "--force")
    found = callboard.here("sessions", "--db", "copy.db", "--json").json
    assert second in {info["sessionId"] for info in found}


def test_a_backup_of_what_is_not_there(callboard: CallboardCommand):
    assert "There is no database" in callboard.here("backup", code=2).err
    assert "There is no database" in callboard.here("backup", "--db", "x.db", code=2).err
    assert not (callboard.folder / "x.db").exists()


def test_a_backup_at_a_terminal_shows_how_far_it_is(callboard: CallboardCommand):
    completed(callboard)
    screen = callboard.terminal("backup", "copy.db")
    screen.expect("Copying")
    screen.expect("Copied")
    screen.expect(pexpect.EOF)
