"""The client's own list of its sessions."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.claude.registry import registered

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


@pytest.fixture(autouse=True)
def among(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the client keeps the files."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


def write(among: Path, entry: Any, name: str = "28918.json") -> Path:
    path = among / name
    path.write_text(entry if isinstance(entry, str) else json.dumps(entry), encoding="utf-8")
    return path


def test_everything_is_read(among: Path):
    write(among, ENTRY)
    found = registered(28918, "100639")
    assert found is not None
    assert (found.session_id, found.proc_start) == ("s1", "100639")
    assert (found.status, found.changed_at) == ("waiting", 2000)


def test_without_a_change_of_its_own_the_file_tells_when_it_was_written(among: Path):
    write(among, ENTRY | {"statusUpdatedAt": None})
    found = registered(28918)
    assert found is not None
    assert found.changed_at == 3000


def test_a_process_that_began_at_another_time_is_another_one(among: Path):
    write(among, ENTRY)
    assert registered(28918, "5") is None
    assert registered(28918) is not None


def test_the_start_may_be_a_number(among: Path):
    write(among, ENTRY | {"procStart": 100639})
    assert registered(28918, "100639") is not None


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
def test_a_file_that_is_odd_is_none(among: Path, content: Any):
    write(among, content)
    assert registered(28918) is None


def test_a_status_of_tomorrow_is_not_known(among: Path):
    write(among, ENTRY | {"status": "dreaming", "statusUpdatedAt": 5.5, "updatedAt": "x"})
    found = registered(28918)
    assert found is not None
    assert (found.status, found.changed_at) == (None, 0)


def test_a_pipe_is_not_waited_for(among: Path):
    os.mkfifo(among / "28918.json")  # Whoever opens it to read waits for ever.
    assert registered(28918) is None


def test_a_link_is_not_followed(among: Path):
    elsewhere = among / "elsewhere"
    elsewhere.mkdir()
    target = write(elsewhere, ENTRY)
    (among / "28918.json").symlink_to(target)
    assert registered(28918) is None


def test_a_file_of_somebody_else_is_not_read(among: Path, monkeypatch: pytest.MonkeyPatch):
    write(among, ENTRY)
    assert registered(28918) is not None
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)  # Only root could give the file away.
    assert registered(28918) is None


def test_there_may_be_no_folder(among: Path):
    among.rmdir()
    assert registered(1) is None


def test_where_the_files_are_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    (tmp_path / ".claude" / "sessions").mkdir(parents=True)
    write(tmp_path / ".claude" / "sessions", ENTRY)
    assert registered(28918) is not None
