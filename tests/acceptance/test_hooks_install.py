"""`callboard hooks` as people call it, in a home of their own, and the hooks as agents run them."""

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard.board.hook_folders import Counting, full_marker, hooks_folder, spool_folder
from callboard.relay.settings import RelaySettings, write_settings
from callboard.vendors.settings.commands import interpreter
from callboard.vendors.settings.jsonc import parse

MINE = """{
  // what I like
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}, // mine
    ],
  },
}
"""


@pytest.fixture
def callboard(tmp_path) -> CallboardCommand:
    folder = tmp_path / 'a home, it\'s "mine"'
    folder.mkdir()
    command = CallboardCommand(folder)
    # Only the agents that a test puts there are found.
    programs = folder / "programs"
    programs.mkdir()
    for name in ("git", "sh", "cat", "mv"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    command.env["PATH"] = str(programs)
    return command


@pytest.fixture
def claude(callboard) -> Path:
    """Claude Code's settings, of a version that says so."""
    program = callboard.folder / "programs" / "claude"
    program.write_text("#!/bin/sh\necho '2.1.325 (Claude Code)'\n", encoding="utf-8")
    program.chmod(0o755)
    path = callboard.folder / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(MINE, encoding="utf-8")
    return path


@pytest.fixture
def folder(callboard) -> Path:
    return hooks_folder(callboard.folder / "t.db")


def command_of(path: Path, event: str) -> str:
    settings: Any = parse(path.read_text(encoding="utf-8")).value
    groups = settings["hooks"][event]
    return groups[-1]["hooks"][-1]["command"]


def fire(command: str, payload: dict[str, Any], **env: str) -> str:
    """Run a hook as the agent does; it may say nothing, and it may not fail."""
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], **env},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---------------------------------------------------------------------- install and uninstall


def test_install_status_uninstall(callboard, claude):
    done = callboard("hooks", "install")
    assert "Claude Code" in done.out
    assert "by spool, answers from the board on" in done.out
    backup = claude.with_name("settings.json.callboard-backup-1")
    assert backup.read_text(encoding="utf-8") == MINE
    text = claude.read_text(encoding="utf-8")
    assert "// what I like" in text
    assert '{"hooks": [{"type": "command", "command": "say done"}]}, // mine' in text

    then = claude.stat().st_mtime_ns
    again = callboard("hooks", "install", "--json").json
    assert [(one["agent"], one["changed"]) for one in again] == [("claude", False)]
    assert claude.stat().st_mtime_ns == then

    status = callboard("hooks", "status").out
    assert "2.1.325" in status
    assert "current by spool, answers on" in status

    callboard("hooks", "uninstall")
    assert claude.read_text(encoding="utf-8") == MINE
    assert [one.name for one in claude.parent.iterdir()] == ["settings.json"]
    assert "No Callboard hooks were installed." in callboard("hooks", "uninstall").out


def test_a_link_to_the_settings_stays_one(callboard, claude):
    dotfiles = callboard.folder / "dotfiles.json"
    claude.rename(dotfiles)
    claude.symlink_to(dotfiles)
    callboard.here("hooks", "install")
    assert claude.is_symlink()
    assert "# callboard" in dotfiles.read_text(encoding="utf-8")
    callboard.here("hooks", "uninstall")
    assert claude.is_symlink()
    assert dotfiles.read_text(encoding="utf-8") == MINE


def test_in_a_project_ours_go_where_git_does_not_look(callboard, claude):
    (callboard.folder / ".git").mkdir()
    done = callboard.here("hooks", "install", "--scope", "project", "--json").json
    local = callboard.folder / ".claude" / "settings.local.json"
    assert done[0]["path"] == str(local)
    assert claude.read_text(encoding="utf-8") == MINE
    callboard.here("hooks", "uninstall", "--scope", "project")
    assert not local.exists()


def test_every_agent_that_is_found_is_installed(callboard, claude):
    for name in (".codex", ".gemini", ".config/opencode"):
        (callboard.folder / name).mkdir(parents=True)
    done = callboard.here("hooks", "install", "--agent", "all", "--json").json
    assert [one["agent"] for one in done] == ["claude", "codex", "gemini", "opencode"]
    assert [one["answers"] for one in done] == [True, False, False, True]
    assert any("/hooks" in remark for remark in done[1]["remarks"])
    wire = callboard.here("hooks", "status", "--json").json[0]
    states = {one["agent"]: [each["state"] for each in one["installed"]] for one in wire["agents"]}
    assert states == {name: ["current"] for name in ("claude", "codex", "gemini", "opencode")}
    callboard.here("hooks", "uninstall")
    left = [one.name for one in callboard.folder.rglob("*") if "callboard" in one.name]
    assert left == []


def test_where_no_agent_is_found_one_can_be_named(callboard):
    done = callboard.here("hooks", "install", code=2)
    assert "No coding agent found" in done.err
    assert "--agent" in done.err
    callboard.here("hooks", "install", "--agent", "claude")
    assert (callboard.folder / ".claude" / "settings.json").exists()
    callboard.here("hooks", "uninstall", "--agent", "claude")
    assert not (callboard.folder / ".claude").exists()


# ---------------------------------------------------------------------- what goes wrong


def test_one_agent_that_fails_does_not_keep_the_others_from_it(callboard, claude):
    (callboard.folder / ".gemini").mkdir()
    claude.write_text('{\n  "a": 1\n  "b": 2\n}\n', encoding="utf-8")
    done = callboard.here("hooks", "install", code=1)
    assert "line 3, column 3" in done.out
    assert (callboard.folder / ".gemini" / "settings.json").exists()
    assert claude.read_text(encoding="utf-8") == '{\n  "a": 1\n  "b": 2\n}\n'
    status = callboard.here("hooks", "status", code=1)
    assert "unusable" in status.out
    assert "line 3, column 3" in status.out
    error = callboard.here("hooks", "install", "--agent", "claude", "--json", code=1).err
    assert json.loads(error)["error"] | {"message": ""} == {
        "code": "SETTINGS_UNUSABLE",
        "message": "",
        "path": str(claude),
        "line": 3,
        "column": 3,
    }


def test_what_keeps_hooks_from_running_is_said(callboard, claude):
    claude.write_text('{"disableAllHooks": true}', encoding="utf-8")
    assert "disableAllHooks" in callboard.here("hooks", "install").out
    assert "disableAllHooks" in callboard.here("hooks", "status").out
    assert "disableAllHooks" in callboard.here("doctor").out


def test_a_read_only_file_is_left_alone(callboard, claude):
    claude.chmod(0o444)
    done = callboard.here("hooks", "install", code=1)
    assert "chmod u+w" in done.err
    assert claude.read_text(encoding="utf-8") == MINE


def test_http_needs_a_service(callboard, claude):
    done = callboard.here("hooks", "install", "--transport", "http", code=1)
    assert "service install" in done.err
    assert claude.read_text(encoding="utf-8") == MINE
    done = callboard.here("hooks", "install", "--agent", "codex", "--transport", "http", code=2)
    assert "Codex cannot use http" in done.err


def test_http_by_force_has_a_token_that_only_reports(callboard, claude):
    claude.chmod(0o644)
    port = ("--port", "4711")
    callboard.here("hooks", "install", "--transport", "http", "--force", *port)
    settings: Any = parse(claude.read_text(encoding="utf-8")).value
    token = settings["env"]["CALLBOARD_HOOK_TOKEN"]
    (made,) = callboard.here("token", "list", "--json").json
    assert (made["name"], made["scope"]) == ("hooks", "hook")
    assert settings["hooks"]["Stop"][-1]["hooks"][0]["url"].startswith("http://127.0.0.1:4711/")
    assert claude.stat().st_mode & 0o777 == 0o600
    again = callboard.here("hooks", "install", "--transport", "http", "--force", *port, "--json")
    assert not again.json[0]["changed"]
    assert len(callboard.here("token", "list", "--json").json) == 1
    assert token not in callboard.here("hooks", "status").out
    callboard.here("hooks", "uninstall")
    assert claude.read_text(encoding="utf-8") == MINE
    assert claude.stat().st_mode & 0o777 == 0o644


def test_status_tells_of_the_spool(callboard, claude, folder):
    callboard.here("hooks", "install")
    fire(command_of(claude, "Stop"), {"session_id": "s", "hook_event_name": "Stop"})
    (spool_folder(folder) / "rejected").mkdir()
    (spool_folder(folder) / "rejected" / "x").touch()
    counted: dict[str, object] = {
        "heard": 7,
        "garbage": 2,
        "failed": 0,
        "last_at": 1,
        "last_agent": "cl\x1baude",
    }
    Counting(folder, lambda: counted).write(1.0)
    status = callboard.here("hooks", "status").out
    assert "1 payload waiting, the oldest from just now, 1 put aside" in status
    assert "7 hooks, 2 were not valid payloads" in status
    assert "\x1b" not in status
    full_marker(folder).touch()
    assert "full" in callboard.here("hooks", "status", code=1).out
    assert "the spool is full" in callboard.here("doctor", code=1).out


def test_status_knows_hooks_of_another_database_and_of_another_version(callboard, claude):
    callboard.here("hooks", "install", "--db", "other.db")
    assert "elsewhere" in callboard.here("hooks", "status").out
    callboard.here("hooks", "install")
    text = claude.read_text(encoding="utf-8")
    claude.write_text(text.replace('"timeout": 10', '"timeout": 11'), encoding="utf-8")
    status = callboard.here("hooks", "status").out
    assert "outdated" in status
    assert "hooks install --agent claude --scope user" in status
    assert "outdated" in callboard.here("doctor").out
    callboard.here("hooks", "install")
    assert "current" in callboard.here("hooks", "status").out


def test_hooks_whose_python_is_gone_are_told(callboard, claude, tmp_path):
    gone = f"{tmp_path}/homebrew/bin/python3.9"
    callboard.here("hooks", "install")
    text = claude.read_text(encoding="utf-8")
    claude.write_text(text.replace(interpreter(), gone), encoding="utf-8")
    said = f"{gone} no longer exists"
    assert said in callboard.here("hooks", "status", code=1).out
    doctor = callboard.here("doctor", code=1).out
    assert said in doctor
    assert "callboard hooks install" in doctor


def test_hooks_that_report_to_a_relay_are_told_with_it(callboard, claude):
    callboard.here("hooks", "install", "--server", "https://board.example.com")
    status = callboard.here("hooks", "status").out
    assert "current" in status
    assert "elsewhere" not in status
    assert "not paired" in callboard.here("doctor", code=1).out
    relay = Path(callboard.env["XDG_DATA_HOME"]) / "callboard" / "relay"
    write_settings(relay, RelaySettings("https://board.example.com", "cb_t", "host1234", "mac"))
    fire(command_of(claude, "Stop"), {"session_id": "s", "hook_event_name": "Stop"})
    said = "The relay to https://board.example.com is not running; 1 report waiting"
    assert said in callboard.here("hooks", "status").out
    doctor = callboard.here("doctor").out
    assert said in doctor
    assert "service install --relay" in doctor
    (found,) = callboard.here("hooks", "status", "--json").json
    assert found["relay"]["waiting"] == 1
    assert not found["relay"]["running"]
    callboard.here("hooks", "install")
    assert "relay" not in callboard.here("doctor").out


# ---------------------------------------------------------------------- the hooks themselves


@dataclass
class Serving:
    """A server of the command's database."""

    process: "subprocess.Popen[str]"
    port: int
    token: str

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer


@pytest.fixture
def server(callboard) -> Iterator[Serving]:
    process = callboard.start("serve", "--port", "0", "--json")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()
    token = (callboard.folder / "t.db.token").read_text(encoding="utf-8").strip()
    yield Serving(process, json.loads(line)["port"], token)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)


def payload(callboard: CallboardCommand, event: str, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "11111111-2222-3333-4444-555555555555",
        "cwd": str(callboard.folder),
        "hook_event_name": event,
        **more,
    }


@pytest.fixture
def agent() -> "Iterator[subprocess.Popen[bytes]]":
    """Any process: the board knows an agent by its number, and that it lives."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_installed_hooks_reach_the_board_and_bring_an_answer_back(callboard, claude, server, agent):
    callboard.here("hooks", "install")
    me = {"CLAUDE_PID": str(agent.pid)}
    start = payload(callboard, "SessionStart", source="startup")
    assert fire(command_of(claude, "SessionStart"), start, **me) == ""
    (plate,) = server.ask("GET", "/plates")["plates"]
    assert (plate["agent"], plate["status"], plate["pid"]) == ("claude", "idle", agent.pid)

    prompt = payload(callboard, "UserPromptSubmit", prompt="build it")
    fire(command_of(claude, "UserPromptSubmit"), prompt, **me)
    tool = {"tool_name": "Bash", "tool_input": {"command": "rm -r build"}}
    with subprocess.Popen(
        ["/bin/sh", "-c", command_of(claude, "PermissionRequest")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], **me},
        text=True,
    ) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdin.write(json.dumps(payload(callboard, "PermissionRequest", **tool)))
        asking.stdin.close()
        pending: list[Any] = []
        while not pending:
            assert asking.poll() is None
            pending = server.ask("GET", "/interactions?status=pending")["interactions"]
        assert pending[0]["type"] == "permission"
        path = f"/interactions/{pending[0]['id']}/answer"
        answer = server.ask("POST", path, {"value": None, "approved": True})
        assert (answer["accepted"], answer["receipt"]) == ({"approved": True}, "pending")
        said = json.loads(asking.stdout.read())
    assert asking.returncode == 0
    assert said["hookSpecificOutput"]["decision"]["behavior"] == "allow"


def test_commands_stay_words_of_a_shell(callboard, claude, folder):
    callboard.here("hooks", "install")
    words = shlex.split(command_of(claude, "SessionStart"))
    assert str(folder) in words
