"""The commands that hooks run, run by real shells: nothing is printed, nothing fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.vendors.settings import commands

SHELLS = ["sh", "bash", "dash", "zsh"]
PAYLOAD = b'{"session_id": "s", "hook_event_name": "Stop"}'


@pytest.fixture(params=["plain", 'it\'s "a" $folder with # and 100%'])
def folder(request, tmp_path) -> Path:
    folder = tmp_path / request.param / "hooks"
    (folder / "spool").mkdir(parents=True, mode=0o700)
    return folder


def run(shell: str, command: str, **env: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [shell, "-c", command],
        input=PAYLOAD,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **env},
    )


def spooled(folder: Path) -> list[dict[str, object]]:
    return [json.loads(one.read_bytes()) for one in (folder / "spool").glob("*.json")]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_way_takes_the_payload_to_the_spool_and_says_nothing(shell, folder):
    lines = [
        commands.spooling(folder, "claude"),
        commands.calling(folder, "claude"),
        commands.in_sh(commands.spooling(folder, "codex")),
        commands.in_sh(commands.calling(folder, "codex")),
        commands.calling(folder, "claude", hold=True),
    ]
    for line in lines:
        assert commands.is_ours({"type": "command", "command": line})
        # Nobody sits at it, so that nothing waits for an answer.
        done = run(shell, line, CLAUDE_CODE_SESSION_ATTENDED="0")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    told = spooled(folder)
    assert len(told) == len(lines)
    assert {one["session_id"] for one in told} == {"s"}


@pytest.mark.parametrize("hold", [False, True])
def test_a_client_or_a_python_that_is_gone_is_no_error(folder, hold, monkeypatch):
    monkeypatch.setattr(commands, "CLIENT", folder / "gone.py")
    done = run("sh", commands.calling(folder, "claude", hold=hold))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    monkeypatch.undo()
    monkeypatch.setattr(commands, "interpreter", lambda: str(folder / "no python"))
    done = run("sh", commands.calling(folder, "claude", hold=hold))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_client_takes_the_place_of_the_shell(folder, monkeypatch):
    """Whoever starts the hook sends it the signal that means Esc: it must reach the client."""
    shown = folder / "pid"
    fake = folder / "client.py"
    fake.write_text(f"import os; open({str(shown)!r}, 'w').write(str(os.getpid()))", "utf-8")
    monkeypatch.setattr(commands, "CLIENT", fake)
    for line in (commands.calling(folder, "claude"), commands.in_sh(commands.calling(folder, "x"))):
        process = subprocess.Popen(["sh", "-c", line], stdin=subprocess.DEVNULL)
        assert process.wait(30) == 0
        assert shown.read_text("utf-8") == str(process.pid)


def test_the_interpreter_is_not_the_link_of_an_environment():
    assert sys.prefix != sys.base_prefix, "tests run in an environment"
    found = commands.interpreter()
    assert not Path(found).is_relative_to(sys.prefix)
    prefix = subprocess.check_output([found, "-I", "-S", "-c", "import sys; print(sys.prefix)"])
    assert prefix.decode().strip() == sys.base_prefix


def test_the_interpreter_keeps_the_name_that_survives_an_update(monkeypatch, tmp_path):
    """Homebrew removes the folder of each version, and links the name to the next one."""
    (tmp_path / "Cellar").mkdir()
    (tmp_path / "Cellar" / "python3").touch()
    (tmp_path / "python3").symlink_to(tmp_path / "Cellar" / "python3")
    monkeypatch.setattr(sys, "_base_executable", str(tmp_path / "python3"))
    assert commands.interpreter() == str(tmp_path / "python3")


def test_what_a_command_was_made_for_can_be_read_from_it(folder):
    hold = {"command": commands.calling(folder, "claude", hold=True)}
    wrapped = {"command": commands.in_sh(commands.calling(folder, "codex"))}
    assert commands.folder_of(hold) == folder
    assert commands.folder_of(wrapped) == folder
    assert commands.transport_of(hold) == commands.transport_of(wrapped) == "command"
    spool = {"command": commands.spooling(folder, "claude")}
    assert commands.transport_of(spool) == "spool"
    assert commands.folder_of(spool) is None


@pytest.mark.parametrize(
    "handler",
    [
        None,
        "sh # callboard",
        {},
        {"command": "callboard hook stop"},
        {"command": "echo '# callboard' > notes"},
        {"command": ["sh", "# callboard"]},
        {"type": "http", "url": "http://127.0.0.1:2255/hooks/claude"},
        {"type": "http", "url": "https://example.com/hooks/claude", "x": commands.TOKEN_VARIABLE},
    ],
)
def test_hooks_of_others_are_not_taken_for_ours(handler):
    assert not commands.is_ours(handler)
