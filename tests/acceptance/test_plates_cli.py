"""`callboard plates`: for people, for programs, for status bars; on a database and on a server."""

import asyncio
import os
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard import Callboard
from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder
from callboard.board.hosts import Host
from callboard.board.spool.claims import SpoolTurn
from callboard.events.moments import to_ms
from callboard.log.sqlite.setup import live_folder
from callboard.log.write_lock import Turnstile
from callboard.vendors.agents import VENDORS

TOKEN = "cb_a-token-for-tests"
NOON_MS = to_ms(datetime(2026, 1, 31, 12, tzinfo=UTC))


@pytest.fixture
def command(tmp_path: Path) -> CallboardCommand:
    return CallboardCommand(tmp_path)


def payload(event: str, session: str, **more: Any) -> dict[str, Any]:
    told = {"hook_event_name": event, "session_id": session, "cwd": f"/home/ann/{session}"}
    return told | {"callboard": {"git_branch": "main"}} | more


def report(folder: Path, *payloads: dict[str, Any]) -> None:
    """What hooks of Claude Code told, straight into the log."""

    async def hear() -> None:
        async with Callboard.open(folder / "t.db") as board:
            for one in payloads:
                told = VENDORS["claude"].translate(one)
                assert told is not None
                await board.plates.hear(told)

    asyncio.run(hear())


def working_day(folder: Path) -> None:
    for session in ("shop", "docs", "blog", "old"):
        report(folder, payload("SessionStart", session, source="startup"))
        report(folder, payload("UserPromptSubmit", session, prompt=f"work on {session}"))
    bash = {"tool_name": "Bash", "tool_input": {"command": "make \x1b[31mclean"}}
    report(folder, payload("PermissionRequest", "shop", **bash))
    report(folder, payload("PreToolUse", "docs", tool_name="Read", tool_input={"file_path": "/x"}))
    report(folder, payload("Stop", "blog", last_assistant_message="done"))
    report(folder, payload("SessionEnd", "old", reason="prompt_input_exit"))


def test_an_empty_board_says_what_to_do(command: CallboardCommand):
    report(command.folder)
    assert "callboard hooks install" in command("plates").out
    assert command.here("plates", "--json").out == ""
    assert command.here("plates", "--line").out == ""


def test_a_table_with_who_needs_a_person_first(command: CallboardCommand):
    working_day(command.folder)
    lines = command.here("plates").out.splitlines()
    assert lines[0].split()[:3] == ["plate", "status", "project"]
    assert "! approve" in lines[1]
    assert "shop" in lines[1]
    assert "Run: make \\x1b[31mclean" in lines[1]
    assert "✓ done" in lines[2]
    assert "● running" in lines[3]
    assert "Read" in lines[3]
    (note,) = lines[4:]
    assert note.startswith("No server is running")
    assert note.endswith("callboard serve --db t.db")
    assert "× closed" in command.here("plates", "--all").out


def from_machines(folder: Path, *names: str) -> None:
    """What relays of other machines told, which no server is connected to now."""

    async def hear() -> None:
        async with Callboard.open(folder / "t.db") as board:
            for name in names:
                host = Host(f"{name}0000", name)
                told = VENDORS["claude"].translate(payload("SessionStart", name, source="startup"))
                assert told is not None
                await board.plates.hear(replace(told, host=host.id, host_name=name))
                await board.hosts.connected(host, "0.1.0")
                await board.hosts.disconnected(host.id, NOON_MS)

    asyncio.run(hear())


def test_machines_are_named_once_there_are_two_of_them(command: CallboardCommand):
    from_machines(command.folder, "atlas")
    assert " host " not in command.here("plates").out.splitlines()[0]
    from_machines(command.folder, "mira")
    head, *lines = command.here("plates").out.splitlines()
    assert head.split()[:4] == ["plate", "status", "project", "host"]
    assert [name for line in lines for name in ("atlas", "mira") if f" {name} " in line] == [
        "mira",
        "atlas",
    ]


def test_an_unreachable_machine_is_shown_as_unreachable(command: CallboardCommand):
    from_machines(command.folder, "atlas")
    line = command.here("plates").out.splitlines()[1]
    assert re.search(r"– idle .* Unreachable · last seen \d+ d ago", line)
    (one,) = command.here("plates", "--json").json
    assert (one["status"], one["unreachableSince"]) == ("idle", "2026-01-31T12:00:00.000Z")


def test_when_all_are_closed_it_says_so(command: CallboardCommand):
    report(command.folder, payload("SessionStart", "a", source="startup"))
    report(command.folder, payload("SessionEnd", "a", reason="other"))
    assert "callboard plates --all" in command.here("plates").out


def test_json_is_the_wire_shape(command: CallboardCommand):
    working_day(command.folder)
    found = command.here("plates", "--json", "--all").json
    assert [one["status"] for one in found] == ["awaiting_approval", "idle", "running", "closed"]
    first = found[0]
    assert first["waitingFor"] == "Run: make \x1b[31mclean"
    assert first["attention"] is True
    assert first["gitBranch"] == "main"
    assert first["projectPath"] == "/home/ann/shop"


def test_one_line_for_a_status_bar(command: CallboardCommand):
    working_day(command.folder)
    assert command("plates", "--line").out == "2 need you · 1 running\n"
    command.run("flows.py:trip", "--input", "Rome", code=3)
    assert command.here("plates", "--line").out == "3 need you · 1 running\n"


def test_a_server_that_is_not_there_leaves_the_status_bar_empty(command: CallboardCommand):
    away = ["--server", "http://127.0.0.1:9"]
    assert command.here("plates", "--line", *away).out == ""
    refused = command.here("plates", *away, code=1)
    assert "No server is running" in refused.err


def spool(folder: Path, *payloads: dict[str, Any]) -> None:
    """What hooks left behind while no server ran."""
    hooks = hooks_folder(folder / "t.db")
    make_folders(hooks)
    for number, one in enumerate(payloads):
        left = spool_folder(hooks) / f"claude.0.{number}.0.json"
        left.write_bytes(orjson.dumps(one))
        os.utime(left, ns=(number * 1_000_000, number * 1_000_000))


def test_without_a_server_what_hooks_left_is_read(command: CallboardCommand):
    report(command.folder, payload("SessionStart", "shop", source="startup"))
    bash = {"tool_name": "Bash", "tool_input": {"command": "make clean"}}
    spool(
        command.folder,
        payload("UserPromptSubmit", "shop", prompt="tidy up"),
        payload("PermissionRequest", "shop", **bash),
    )
    waiting = command.here("inbox").out
    assert "Run: make clean" in waiting
    assert "claude in /home/ann/shop. Answer in its terminal." in waiting
    assert "callboard serve --db t.db" in waiting
    assert "! approve" in command.here("plates").out
    spool(command.folder, payload("Stop", "shop"))
    assert "✓ done" in command.here("plates").out
    assert "No open questions." in command.here("inbox").out


def test_what_cannot_be_read_is_said(command: CallboardCommand):
    report(command.folder, payload("SessionStart", "shop", source="startup"))
    spool(command.folder, payload("Stop", "shop"), payload("Stop", "shop"))
    # Another process reads the spool, and has not come to its end.
    claimed = spool_folder(hooks_folder(command.folder / "t.db")) / "claimed"
    claimed.mkdir(mode=0o700)
    turn = SpoolTurn(claimed)
    assert turn.take()
    said = command.here("plates").out
    turn.give()
    assert "2 reports from coding agents not shown yet; the oldest arrived" in said
    # Each look reads as much as half a second allows.
    while " not shown yet" in (said := command.here("plates").out):
        assert "reports from coding agents" in said or "1 report from" in said
    assert "✓ done" in said


@pytest.fixture
def served(command: CallboardCommand) -> Iterator[CallboardCommand]:
    working_day(command.folder)
    command.env |= {"CALLBOARD_TOKEN": TOKEN}
    server = command.start("serve", "flows.py", "--port", "0", "--json", "--db", "t.db")
    assert server.stdout is not None
    command.env |= {"CALLBOARD_SERVER": orjson.loads(server.stdout.readline())["url"]}
    yield command
    _stop(server)


def _stop(server: "subprocess.Popen[str]") -> None:
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=120)


def test_a_server_tells_the_same_as_its_database(served: CallboardCommand):
    there = served("plates", "--json", "--all").json
    here = served.here("plates", "--json", "--all", "--db", "t.db").json
    assert there == here
    assert len(there) == 4
    assert served.here("plates", "--line").out == "2 need you · 1 running\n"


def test_a_board_without_a_server_says_how_to_start_one(command: CallboardCommand):
    child = command.terminal("board", "--server", "http://127.0.0.1:9")
    child.expect("No server is running at http://127.0.0.1:9")
    child.expect("callboard serve")
    child.wait()
    assert child.exitstatus == 1


def test_a_board_without_a_terminal_names_the_command_for_programs(command: CallboardCommand):
    refused = command("board", code=2)
    assert "callboard plates --json" in refused.err
    assert "Traceback" not in refused.err


def test_a_board_without_textual_names_the_extra(command: CallboardCommand):
    # What is not installed is what cannot be found: a folder in front of all others hides it.
    hidden = command.folder / "sitecustomize.py"
    hidden.write_text(
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'textual' else find(name, *more)\n",
        encoding="utf-8",
    )
    refused = command("board", code=2, PYTHONPATH=str(command.folder))
    assert "pip install 'callboard[tui]'" in refused.err


def test_a_board_can_start_its_own_server(command: CallboardCommand, tmp_path: Path):
    # No token of ours: the one that the server makes is found beside its database.
    port = _free_port()
    child = command.terminal("board", "--start", "--server", f"http://127.0.0.1:{port}")
    pid = None
    try:
        child.expect("No agents yet")
        child.send("q")
        child.wait()
        assert child.exitstatus == 0
        assert command.here("plates", "--server", f"http://127.0.0.1:{port}").code == 0
        assert (tmp_path / "t.db.server.log").stat().st_mode & 0o077 == 0
    finally:
        pid = _listener(port)
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
    assert pid is not None


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _listener(port: int) -> int | None:
    """The server that was started: the process whose command line names the port."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and str(port).encode() in words:
                return int(entry.name)
    return None


def test_a_process_that_holds_the_write_lock_keeps_nobody_from_looking(command: CallboardCommand):
    working_day(command.folder)
    turnstile = Turnstile(live_folder(command.folder / "t.db"))
    turnstile.enter(5)
    try:
        assert "! approve" in command.here("plates").out
        assert command.here("inbox").code == 0
    finally:
        turnstile.close()


def test_a_program_that_locked_the_whole_file_is_named_as_the_reason(command: CallboardCommand):
    working_day(command.folder)
    with closing(sqlite3.connect(command.folder / "t.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE held (x)")
        for words in (["plates"], ["plates", "--json"], ["inbox"]):
            assert "locked by another program" in command.here(*words, code=1).err
        other.execute("ROLLBACK")
