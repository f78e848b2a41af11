"""The client's own list of its sessions."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.claude.registry import all_registered, folder, registered

ENTRY = {
    "pid": 28918,
    "sessionId": "s1",
    "cwd": "/p",
    "startedAt": 1000,
    "procStart": "100639",
    "version": "2.1.325",
    "kind": "interactive",
    "name": "proj-2c",
    "status": "waiting",
    "waitingFor": "permission prompt",
    "updatedAt": 3000,
    "statusUpdatedAt": 2000,
}


def write(among: Path, entry: Any, name: str = "28918.json") -> Path:
    path = among / name
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry), encoding="utf-8")
    return path


def test_everything_is_read(tmp_path: Path):
    write(tmp_path, ENTRY)
    found = registered(28918, "100639", tmp_path)
    assert found is not None
    assert (found.pid, found.session_id, found.cwd) == (28918, "s1", "/p")
    assert (found.proc_start, found.version, found.name) == ("100639", "2.1.325", "proj-2c")
    assert (found.status, found.waiting_for) == ("waiting", "permission prompt")
    assert (found.updated_at, found.changed_at) == (3000, 2000)


def test_a_process_that_began_at_another_time_is_another_one(tmp_path: Path):
    write(tmp_path, ENTRY)
    assert registered(28918, "5", tmp_path) is None
    assert registered(28918, None, tmp_path) is not None


def test_the_start_may_be_a_number(tmp_path: Path):
    write(tmp_path, ENTRY | {"procStart": 100639})
    assert registered(28918, "100639", tmp_path) is not None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "5",
        '"text"',
        "\x00",
        ENTRY | {"sessionId": None},
        ENTRY | {"pid": 1},
        ENTRY | {"pid": True},
        ENTRY | {"pid": "28918"},
        ENTRY | {"name": "x" * 100_000},
    ],
    ids=lambda content: str(content)[:20],
)
def test_a_file_that_is_odd_is_none(tmp_path: Path, content: Any):
    write(tmp_path, content)
    assert registered(28918, None, tmp_path) is None
    assert all_registered(tmp_path) == []


def test_a_status_of_tomorrow_is_not_known(tmp_path: Path):
    write(tmp_path, ENTRY | {"status": "dreaming", "waitingFor": 5, "updatedAt": "x"})
    found = registered(28918, None, tmp_path)
    assert found is not None
    assert (found.status, found.waiting_for, found.updated_at) == (None, None, 0)


def test_only_files_of_processes_are_read(tmp_path: Path):
    write(tmp_path, ENTRY)
    write(tmp_path, ENTRY | {"pid": 7}, "7.json")
    for name in ("28918.key", "x.json", "007.json", "28918.json.bak", "0.json"):
        write(tmp_path, ENTRY, name)
    assert [one.pid for one in all_registered(tmp_path)] == [28918, 7]


def test_a_key_is_never_opened(tmp_path: Path):
    write(tmp_path, ENTRY)
    os.mkfifo(tmp_path / "28918.key")  # Whoever opens it waits for ever.
    os.mkfifo(tmp_path / "9.json")
    assert len(all_registered(tmp_path)) == 1


def test_a_link_is_not_followed(tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = write(elsewhere, ENTRY)
    (tmp_path / "28918.json").symlink_to(target)
    assert registered(28918, None, tmp_path) is None


def test_a_file_of_somebody_else_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path, ENTRY)
    assert registered(28918, None, tmp_path) is not None
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)  # Only root could give the file away.
    assert registered(28918, None, tmp_path) is None


def test_there_may_be_no_folder(tmp_path: Path):
    assert all_registered(tmp_path / "none") == []
    assert registered(1, None, tmp_path / "none") is None


def test_where_the_files_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert folder({"CLAUDE_CONFIG_DIR": "/c"}) == Path("/c/sessions")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert folder() == tmp_path / ".claude" / "sessions"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    (tmp_path / "c" / "sessions").mkdir(parents=True)
    write(tmp_path / "c" / "sessions", ENTRY)
    assert registered(28918) is not None
