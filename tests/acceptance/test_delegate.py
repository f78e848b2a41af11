"""`callboard delegate` as people call it wrongly, and what it says then."""

import json
from pathlib import Path

import pytest
from tests.acceptance.cli_process import SCRIPT, CallboardCommand


@pytest.fixture
def callboard(tmp_path: Path) -> CallboardCommand:
    command = CallboardCommand(tmp_path)
    command.env.pop("CLAUDE_PROJECT_DIR", None)
    command.env["PATH"] = f"{tmp_path}/bin:{Path(SCRIPT).parent}:/usr/bin:/bin"
    (tmp_path / ".claude").mkdir()
    return command


def test_without_a_task(callboard: CallboardCommand):
    for words in ((), ("  ",)):
        said = callboard.here("delegate", *words, code=2).err
        assert "Describe the task: callboard delegate TASK" in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--agents", "nowhere"), "'nowhere' does not exist"),
        (("--agents", "flows.py"), "is a file"),
        (("--approve", "maybe"), "'maybe' is not one of 'auto', 'ask'"),
        (("--timeout", "soon"), "'soon' is not a period"),
        (("--permission-mode", "none"), "is not one of"),
    ],
)
def test_wrong_options(callboard: CallboardCommand, words: tuple[str, ...], what: str):
    assert what in callboard.here("delegate", "Build it", *words, code=2).err


def test_without_claude_code(callboard: CallboardCommand):
    said = callboard.here("delegate", "Build it", code=2).err
    assert "there is no 'claude' in PATH. Install it: npm install" in said
    assert not (callboard.folder / "t.db").exists()
    assert not (callboard.folder / ".claude" / "state").exists()


def test_on_a_server(callboard: CallboardCommand):
    said = callboard.here("--server", "http://127.0.0.1:1", "delegate", "Build it", code=2).err
    assert "delegate works on a database of this machine" in said


class TestResume:
    def test_takes_no_task(self, callboard: CallboardCommand):
        said = callboard.here("delegate", "Build it", "--resume", "abcd", code=2).err
        assert "Remove TASK" in said

    @pytest.mark.parametrize(
        "words",
        [
            ("--agents", "."),
            ("--plan-only",),
            ("--approve", "ask"),
            ("--allow", "Bash"),
            ("--permission-mode", "default"),
            ("--model", "opus"),
            ("--timeout", "1h"),
        ],
    )
    def test_takes_no_other_terms(self, callboard: CallboardCommand, words: tuple[str, ...]):
        said = callboard.here("delegate", "--resume", "abcd", *words, code=2).err
        assert f"Remove {words[0]} or start a new task." in said

    def test_of_what_there_is_not(self, callboard: CallboardCommand):
        callboard.here("run", "flows.py:trip", "--input", "Rome", code=3)
        said = callboard.here("delegate", "--resume", "nope", code=2).err
        assert "There is no session 'nope'" in said

    def test_without_claude_code(self, callboard: CallboardCommand):
        install(callboard, "exit 1")
        callboard.here("delegate", "Build it", code=1)
        [listed] = callboard.here("sessions", "--json").json
        (callboard.folder / "bin" / "claude").unlink()
        said = callboard.here("delegate", "--resume", listed["sessionId"], code=2).err
        assert "there is no 'claude' in PATH. Install it: npm install" in said

    def test_of_another_workflow(self, callboard: CallboardCommand):
        callboard.here("run", "flows.py:trip", "--input", "Rome", code=3)
        [listed] = callboard.here("sessions", "--json").json
        id = listed["sessionId"]
        said = callboard.here("delegate", "--resume", id, code=2).err
        assert f"Session {id} is not a delegated task but a session of 'trip'." in said
        assert f"callboard resume {id}" in said


class TestTrust:
    @pytest.fixture
    def trusting(self, callboard: CallboardCommand) -> CallboardCommand:
        """A client that fails when it is started, in a folder below a repository with settings."""
        install(callboard, "echo started >&2; exit 1")
        callboard.env["CLAUDE_CONFIG_DIR"] = str(callboard.folder / "config")
        (callboard.folder / "config").mkdir()
        (callboard.folder / ".git").mkdir()
        return callboard

    @pytest.mark.parametrize("name", [".claude/settings.json", ".mcp.json"])
    def test_a_project_with_settings_that_nobody_agreed_to_is_refused(
        self, trusting: CallboardCommand, name: str
    ):
        (trusting.folder / name).write_text("{}", encoding="utf-8")
        said = trusting.here("delegate", "Build it", code=2).err
        assert f"{trusting.folder / name} can make it run commands" in said
        assert "run `claude` here once and trust the folder" in said
        assert not (trusting.folder / "t.db").exists()

    @pytest.mark.parametrize("above", [False, True])
    def test_one_that_a_person_trusts_is_worked_in(self, trusting: CallboardCommand, above: bool):
        (trusting.folder / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
        trusted = trusting.folder.parent if above else trusting.folder
        known = {"projects": {str(trusted): {"hasTrustDialogAccepted": True}}}
        config = trusting.folder / "config" / ".claude.json"
        config.write_text(json.dumps(known), encoding="utf-8")
        assert "started" in trusting("delegate", "Build it", code=1).err


def install(callboard: CallboardCommand, script: str) -> None:
    program = callboard.folder / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_a_client_that_cannot_run_fails_the_task_with_the_next_step(callboard: CallboardCommand):
    install(callboard, "echo no such option >&2; exit 1")
    agents = callboard.folder / ".claude" / "agents"
    agents.mkdir()
    (agents / "bad.md").write_text("You do things.\n", encoding="utf-8")

    (agents / "bad\x1b[2J.md").write_text("You do things.\n", encoding="utf-8")

    done = callboard("delegate", "Build it", code=1)

    assert "no such option" in done.err
    assert "Retry it: callboard retry" in done.err
    assert f"warning: {agents}/bad.md:1: it does not start with ---" in done.err
    assert "bad\\x1b[2J.md:1: it does" in done.err
    assert "\x1b[2J" not in done.err
    assert "✗ phase_0  Plan the work  planner" in done.out
    [listed] = callboard.here("sessions", "--json").json
    assert listed["status"] == "failed"


@pytest.mark.long
def test_a_client_that_still_cannot_run_fails_it_again(callboard: CallboardCommand):
    install(callboard, "echo no such option >&2; exit 1")
    callboard("delegate", "Build it", code=1)
    [listed] = callboard.here("sessions", "--json").json
    again = callboard("retry", listed["sessionId"], code=1)
    assert "no such option" in again.err
    told = callboard("delegate", "Build it", "--json", code=1)
    assert [one["name"] for one in told.json][:: len(told.json) - 1] == [
        "workflow:started",
        "workflow:failed",
    ]
    assert told.json[0]["payload"]["input"]["terms"]["approve"] == "ask"
    planned = callboard("delegate", "Build it", "--plan-only", "--json", code=1)
    assert "There is no plan: Claude Code ended without a result" in planned.err
    assert planned.out == ""
