"""What the doctor finds in real files and at real ports."""

import json
import os
import socket
import sqlite3
import threading
import tomllib
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

from callboard import Approval, Phase, State, Workflow
from callboard.app import Callboard
from callboard.cli.doctor import findings
from callboard.cli.doctor import workers as worker_findings
from callboard.cli.doctor.database import database
from callboard.cli.doctor.findings import Finding, amount
from callboard.cli.doctor.server import server
from callboard.cli.main import run_command
from callboard.cli.targets import Database
from callboard.clock import SystemClock
from callboard.engine.workers import (
    StrandedSession,
    WorkerInfo,
    WorkerOverview,
    WorkflowVersion,
)
from callboard.testing.fake_clock import FakeClock

ROOT = Path(__file__).parents[3]


class Nothing(State):
    pass


ASKS = Workflow("asks", state=Nothing, phases=[Phase("a", human=Approval("Go on?"), terminal=True)])


@pytest.fixture
async def db(tmp_path) -> Path:
    path = tmp_path / "x.db"
    async with Callboard.open(path, [ASKS]) as board:
        await board.run(ASKS)
    return path


def look(path: Path) -> dict[str, Finding]:
    return {one.check: one for one in database(path, SystemClock())}


def levels(found: dict[str, Finding]) -> set[str]:
    return {one.level for one in found.values()}


def test_a_healthy_database_is_told_as_such(db):
    found = look(db)
    assert set(found) == {
        "files", "database", "integrity", "write-ahead log", "clock", "live folder",
    }  # fmt: skip
    assert levels(found) == {"ok"}


def test_a_database_that_does_not_exist_is_no_fault_and_is_not_made(tmp_path):
    path = tmp_path / "new.db"
    assert levels(look(path)) == {"ok"}
    assert not path.exists()


async def test_a_database_that_was_deleted_while_it_is_open_is_told(db):
    async with Callboard.open(db):
        db.unlink()
        found = look(db)["database"]
        assert found.level == "fail"
        assert "deleted or moved while it was open 1 time" in found.said
    assert levels(look(db)) == {"ok"}


def test_looking_changes_nothing(db):
    before = db.read_bytes()
    look(db)
    assert db.read_bytes() == before


async def test_who_has_it_open_is_counted(db):
    assert "nowhere" in look(db)["live folder"].said
    async with Callboard.open(db):
        assert "1 time" in look(db)["live folder"].said


@pytest.mark.parametrize(
    ("name", "check", "todo"),
    [("x.db", "files", "chmod 600"), ("x.db.token", "secrets", "replace the tokens")],
)
def test_files_that_others_can_read_are_told(db, name, check, todo):
    file = db.with_name(name)
    file.touch()
    file.chmod(0o644)
    found = look(db)[check]
    assert found.level == "warn"
    assert todo in str(found.todo)


def test_a_live_folder_that_others_can_look_into_is_told(db):
    db.with_name("x.db-live").chmod(0o755)
    assert look(db)["live folder"].level == "warn"


def change(db: Path, sql: str) -> None:
    with closing(sqlite3.connect(db)) as opened:
        opened.executescript(sql)


def test_a_database_of_a_newer_callboard_is_told(db):
    change(db, "INSERT INTO migrations VALUES (999, '0999_future.sql', '', 0)")
    found = look(db)["database"]
    assert found.level == "fail"
    assert "newer Callboard" in str(found.todo)


def test_a_database_of_another_program_is_told(tmp_path):
    other = tmp_path / "other.db"
    change(other, "CREATE TABLE theirs (id)")
    found = look(other)["database"]
    assert found.level == "fail"
    assert "not one of Callboard's" in found.said


def test_what_is_no_database_at_all_is_told(tmp_path):
    path = tmp_path / "x.db"
    path.write_text("no database" * 1000)
    path.chmod(0o600)
    assert look(path)["database"].level == "fail"


def test_a_damaged_database_is_told(db):
    with db.open("r+b") as file:
        # The page size is in the file's head; every page but the first is overwritten.
        size = int.from_bytes(db.read_bytes()[16:18])
        file.seek(size)
        file.write(os.urandom(len(db.read_bytes()) - size))
    assert "fail" in levels(look(db))


def test_a_clock_that_went_back_is_told(db):
    found = {one.check: one for one in database(db, FakeClock(1_600_000_000_000))}
    assert found["clock"].level == "warn"
    assert "in the future" in found["clock"].said
    alone = {one.check: one for one in database(db.with_name("no.db"), FakeClock(0))}
    assert alone["clock"].level == "fail"


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    usage = type(findings.shutil.disk_usage(tmp_path))
    for free, level in ((10, "fail"), (500_000_000, "warn"), (5_000_000_000, "ok")):
        monkeypatch.setattr(findings.shutil, "disk_usage", lambda _, free=free: usage(1, 1, free))
        assert findings.disk(tmp_path / "not" / "yet").level == level


def test_an_extra_counts_only_with_its_main_package(monkeypatch: pytest.MonkeyPatch):
    """httpx comes with the server; nobody asked for the board in the terminal, or for MCP."""
    with_server = {"fastapi", "httptools", "httpx", "prometheus-client", "uvicorn", "uvloop"}
    with_server |= {"opentelemetry-api", "segno"}
    monkeypatch.setattr(findings, "_is_installed", lambda name: name in with_server)
    found = {one.check: one for one in findings.installation()}
    assert {one.level for one in found.values()} == {"ok"}
    assert found["extra server"].said == found["extra client"].said == "installed"
    for extra in ("mcp", "tui", "otel", "notify"):
        assert found[f"extra {extra}"].said.startswith("not installed; ")
    with_server.remove("uvicorn")
    (half,) = [one for one in findings.installation() if one.level == "warn"]
    assert (half.check, half.todo) == ("extra server", "pip install 'callboard[server]'")


def test_every_extra_has_a_main_package_and_all_has_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras.pop("all") == [f"callboard[{','.join(sorted(extras))}]"]
    assert extras.keys() == findings.MAIN_PACKAGES.keys()
    for extra, main in findings.MAIN_PACKAGES.items():
        assert any(one.startswith((f"{main}>=", f"{main}[")) for one in extras[extra])


def test_half_of_an_extra_is_told_and_none_of_it_is_fine():
    assert findings._extra("x", ["click", "rich"]).said == "installed"
    half = findings._extra("x", ["click", "no-such-package"])
    assert (half.level, half.todo) == ("warn", "pip install 'callboard[x]'")
    none = findings._extra("x", ["no-such-package"])
    assert none.level == "ok"
    assert "pip install" in none.said


def test_the_installation_of_these_tests_is_whole():
    assert {one.level for one in findings.installation()} == {"ok"}


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (83e9, "83 GB")]
)
def test_sizes_are_said_shortly(size, said):
    assert amount(size) == said


@contextmanager
def answering(status: int, body: bytes, more: tuple[int, bytes] | None = None):
    """A program that answers `/health` one way and the rest another, and keeps what it is sent."""
    sent: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append(f"{self.path} {self.headers}")
            code, text = (status, body) if self.path == "/health" or not more else more
            self.send_response(code)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format, *args):
            pass

    served = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    try:
        yield served.server_port, sent
    finally:
        served.shutdown()
        thread.join()
        served.server_close()


def at(port: int, tmp_path: Path) -> dict[str, Finding]:
    return {one.check: one for one in server("127.0.0.1", port, tmp_path / "x.db")}


def test_a_free_port_is_told(tmp_path):
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert at(port, tmp_path)["port"].level == "ok"


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>"), (404, b"{}"), (200, b"[1]"), (200, b"\xff")]
)
def test_a_stranger_at_the_port_is_told(tmp_path, status, body):
    with answering(status, body) as (port, _):
        found = at(port, tmp_path)
    assert found["port"].level == "fail"
    assert "--port" in str(found["port"].todo)


def test_a_server_whose_database_is_broken_is_told(tmp_path):
    with answering(503, b'{"error": {"code": "STORE_ERROR"}}') as (port, _):
        assert at(port, tmp_path)["server"].level == "fail"


@pytest.mark.parametrize(
    ("more", "check", "level"),
    [
        ((200, b'{"version": "0.0.1"}'), "server version", "warn"),
        ((200, f'{{"version": "{version("callboard")}"}}'.encode()), "server version", "ok"),
        ((200, b"{"), "server version", "warn"),
        ((401, b'{"error": {"code": "UNAUTHENTICATED"}}'), "token", "warn"),
        ((200, b"{}"), "port", "fail"),
    ],
)  # fmt: skip
def test_the_version_of_our_own_server_is_asked_for(tmp_path, monkeypatch, more, check, level):
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_a-token-for-tests")
    with answering(200, b'{"status": "ok"}', more) as (port, sent):
        found = at(port, tmp_path)
    assert found[check].level == level
    health, facts = sent
    assert "cb_a-token-for-tests" not in health
    assert "cb_a-token-for-tests" in facts


def test_a_token_that_may_not_see_the_version_is_no_finding(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_a-token-for-tests")
    refused = (403, b'{"error": {"code": "FORBIDDEN"}}')
    with answering(200, b'{"status": "ok"}', refused) as (port, _):
        assert at(port, tmp_path).keys() == {"server"}


def test_a_server_of_another_user_gets_no_token(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_a-token-for-tests")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with answering(200, b'{"status": "ok"}') as (port, sent):
        assert at(port, tmp_path)["server"].level == "ok"
    assert "cb_a-token-for-tests" not in "".join(sent)


def test_the_command_says_it_for_people_and_for_programs(db, capsysbinary):
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    assert run_command(["doctor", "--db", str(db), "--port", port]) == 0
    assert b"No problems found." in capsysbinary.readouterr().out
    assert run_command(["doctor", "--db", str(db), "--port", port, "--json"]) == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert {line["status"] for line in lines} == {"ok"}
    change(db, "INSERT INTO migrations VALUES (999, '0999_future.sql', '', 0)")
    assert run_command(["doctor", "--db", str(db), "--port", port]) == 1
    assert b"1 failure." in capsysbinary.readouterr().out


def test_an_id_of_the_machine_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert list(findings.host()) == []
    assert not findings.host_file().exists(), "looking makes nothing"
    findings.host_file().parent.mkdir()
    findings.host_file().write_text("0123456789abcdef\n")
    assert list(findings.host()) == []
    findings.host_file().write_text("not an id!\n")
    (found,) = findings.host()
    assert (found.level, found.todo) == ("warn", f"rm {findings.host_file()}")
    assert "contains no host id" in found.said


def team(*versions: str | None, stranded: int = 0) -> WorkerOverview:
    """A worker for each version of a workflow, and sessions that none of them can drive."""
    running = [
        WorkerInfo(
            f"{n}-x", f"build-{n}", n, None, True, None, [WorkflowVersion("trip", one)], [], n
        )
        for n, one in enumerate(versions)
    ]
    reason = "No running worker has the workflow 'memo'."
    left = [
        StrandedSession(
            f"s{n}", None, "memo", None, None, 0, reason, "Start one: callboard worker FILE"
        )
        for n in range(stranded)
    ]
    return WorkerOverview(running, len(running), 0, 0, left, stranded, False, "")


def told(found: WorkerOverview) -> list[tuple[str, str, str, str | None]]:
    judged = worker_findings.judged(found, Database("x.db"))
    return [(one.check, one.level, one.said, one.todo) for one in judged]


def test_workers_are_listed():
    assert told(team()) == [("workers", "ok", "none running", None)]
    assert told(team("1", "1")) == [
        ("worker", "ok", "process 0 on build-0: trip 1", None),
        ("worker", "ok", "process 1 on build-1: trip 1, drives 1 session", None),
    ]
    many = told(team(*["1"] * 25))
    assert len(many) == 21
    assert many[-1][2] == "5 more; list them: callboard workers --db x.db"


def test_different_versions_of_a_workflow_are_told():
    *_, (check, level, said, todo) = told(team("1", "2", None, "2"))
    assert (check, level) == ("versions", "warn")
    assert said == (
        "running workers have different versions of trip: 1 (1 worker), 2 (2 workers), "
        "no version (1 worker)"
    )
    assert "restart" in str(todo)


def test_sessions_that_no_worker_can_drive_are_told():
    *_, (check, level, said, todo) = told(team("1", stranded=1))
    assert (check, level, todo) == ("stranded", "warn", "Start one: callboard worker FILE")
    assert said == (
        "no running worker can drive 1 session, such as s0: "
        "No running worker has the workflow 'memo'."
    )
    *_, (_, _, said, todo) = told(team("1", stranded=3))
    assert "can drive 3 sessions" in said
    assert todo == "Start one: callboard worker FILE; list all: callboard workers --db x.db"


def test_workers_are_looked_up_without_changing_the_database(db, tmp_path):
    found = list(worker_findings.workers(Database(str(db))))
    assert [(one.check, one.said) for one in found] == [("workers", "none running")]
    empty = tmp_path / "empty.db"
    empty.touch(0o600)
    for path in (empty, tmp_path / "none.db"):
        assert list(worker_findings.workers(Database(str(path)))) == []
    assert empty.read_bytes() == b""
    assert not (tmp_path / "none.db").exists()
    change(db, "DELETE FROM migrations WHERE version = (SELECT max(version) FROM migrations)")
    before = db.read_bytes()
    assert list(worker_findings.workers(Database(str(db)))) == []
    assert db.read_bytes() == before
