"""`callboard watch`: the agent runs as if it had been started without it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from tests.acceptance.cli_process import SCRIPT
from tests.servers import Server, serving
from tests.terminals import end_at_once

from callboard.board.hook_folders import hooks_folder, write_connection

AGENT = """
import os, signal, sys, time
def say(text):  # Signals may come while we print; a write is whole all the same.
    os.write(1, text.encode() + b"\\n")
def told(number, frame):
    say("got " + signal.Signals(number).name)
    if number != signal.SIGINT:
        sys.exit(7)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, told)
signal.signal(signal.SIGCONT, lambda number, frame: say("goes on"))
say(f"pid {os.getpid()}")
while True:
    signal.pause()
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "agent.py").write_text(AGENT)
    return {
        "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "CALLBOARD_DB": str(tmp_path / "t.db"),
    }


class Watch:
    """The wrapper, with a program in it."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = env

    def start(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [SCRIPT, "watch", *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err


@pytest.fixture
def watch(tmp_path: Path, env: dict[str, str]) -> Watch:
    return Watch(tmp_path, env)


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_the_exit_code_is_passed_on(watch: Watch, code: int):
    assert watch.run("--", "sh", "-c", f"exit {code}") == (code, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGSEGV])
def test_a_signal_that_ended_it_is_passed_on(watch: Watch, number: signal.Signals):
    assert watch.run("--", "sh", "-c", f"kill -{number} $$")[0] == -number


def test_its_words_and_its_output_are_its_own(watch: Watch):
    code, out, err = watch.run("--", "sh", "-c", 'echo "$@"; echo oops >&2', "x", "--help", "-v")
    assert (code, out, err) == (0, "--help -v\n", "oops\n")


def test_its_input_is_its_own(watch: Watch):
    process = watch.start("--", "cat")
    assert process.communicate("hello", timeout=120) == ("hello", "")


def test_a_program_that_is_not_there(watch: Watch):
    code, out, err = watch.run("--", "no-such-agent")
    assert (code, out) == (127, "")
    assert err == "error: no-such-agent cannot be started: No such file or directory.\n"


def test_a_program_that_is_none(watch: Watch, tmp_path: Path):
    (tmp_path / "text").write_text("no program")
    code, _, err = watch.run("--", str(tmp_path / "text"))
    assert code == 126
    assert "Permission denied" in err


@pytest.mark.parametrize("interrupt", [signal.SIG_DFL, signal.SIG_IGN])
def test_signals_are_for_it_as_if_nobody_had_touched_them(
    watch: Watch, interrupt: signal.Handlers, request: pytest.FixtureRequest
):
    """Ignored, as for what a script starts in the background, or not."""
    before = signal.signal(signal.SIGINT, interrupt)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    shown = "import pathlib; print(pathlib.Path('/proc/self/status').read_text())"
    plain = subprocess.run(
        [sys.executable, "-S", "-c", shown], env=watch.env, capture_output=True, text=True
    ).stdout
    watched = watch.run("--", sys.executable, "-S", "-c", shown)[1]
    for field in ("SigBlk", "SigIgn", "SigCgt"):
        assert _status(watched, field) == _status(plain, field)


def _status(text: str, field: str) -> int:
    # Beyond 31 are those that the C library keeps for itself.
    return int(text.partition(f"{field}:")[2].split()[0], 16) & 0x7FFF_FFFF


def agent_in(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    return int(process.stdout.readline().split()[1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_wrapper_is_for_the_program(watch: Watch, number: signal.Signals):
    process = watch.start("--", sys.executable, "agent.py")
    agent_in(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (7, f"got {number.name}\n", "")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1", "nonsense", "999.1.1.1:80", "127.0.0.1:70000", ""]
)
def test_without_a_server_it_just_runs(watch: Watch, tmp_path: Path, address: str):
    write_connection(hooks_folder(tmp_path / "t.db"), address, "token")
    assert watch.run("--", "sh", "-c", "exit 5") == (5, "", "")


def test_a_folder_that_is_gone_keeps_nobody_from_running(watch: Watch, tmp_path: Path):
    write_connection(hooks_folder(tmp_path / "t.db"), "127.0.0.1:1", "token")
    line = f"mkdir gone && cd gone && rmdir ../gone && exec {SCRIPT} watch -- false"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=watch.env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_a_callboard_that_is_broken_keeps_nobody_from_running(watch: Watch, tmp_path: Path):
    """As while it is being updated: the agent has started, and the rest cannot be loaded."""
    code = "import sys; sys.modules['callboard.courier.wire'] = None; "
    code += "from callboard.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "watch", "--", "sh", "-c", "exit 5"],
        cwd=tmp_path,
        env=watch.env,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "")


def test_an_address_that_is_none_keeps_nobody_from_running(watch: Watch):
    assert watch.run("--server", "nonsense", "--", "true") == (0, "", "")


# ---- what the board is told


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    async with serving(tmp_path / "t.db") as server:
        yield server


async def plates(server: Server) -> list[dict[str, Any]]:
    async with server.client() as client:
        return (await client.get("/plates")).json()["plates"]


async def until(server: Server, status: str) -> dict[str, Any]:
    while True:
        found = await plates(server)
        if [one["status"] for one in found] == [status]:
            return found[0]


async def test_the_board_knows_when_it_starts_and_when_it_ends(
    server: Server, watch: Watch, tmp_path: Path
):
    process = watch.start("--", sys.executable, "agent.py", "codex")
    pid = await asyncio.to_thread(agent_in, process)
    plate = await until(server, "starting")
    assert (plate["pid"], plate["projectPath"]) == (pid, str(tmp_path))
    assert plate["agent"] == "codex"
    process.terminate()
    await asyncio.to_thread(process.communicate, timeout=120)
    assert [one["status"] for one in await plates(server)] == ["closed"]


async def test_a_server_that_is_named_is_told(server: Server, watch: Watch, tmp_path: Path):
    watch.env |= {"CALLBOARD_TOKEN": "cb_a-token-for-tests", "CALLBOARD_DB": str(tmp_path / "o.db")}
    words = ("--server", server.url, "--", "claude-not-there")
    assert (await asyncio.to_thread(watch.run, *words))[0] == 127
    assert await plates(server) == []
    code, out, err = await asyncio.to_thread(watch.run, "--server", server.url, "--", "true")
    assert (code, out, err) == (0, "", "")
    assert [one["status"] for one in await plates(server)] == ["closed"]


async def test_a_session_that_starts_in_it_is_on_its_plate(server: Server, watch: Watch):
    process = watch.start("--", sys.executable, "agent.py")
    pid = await asyncio.to_thread(agent_in, process)
    registered = await until(server, "starting")
    sender = {"pid": pid, "proc_start": registered["procStart"]}
    hook = {"session_id": "s1", "hook_event_name": "SessionStart", "cwd": "/p", "callboard": sender}
    async with server.client() as client:
        await client.post("/hooks/claude", content=json.dumps(hook))
    plate = await until(server, "idle")
    assert (plate["plateId"], plate["sessionId"]) == (registered["plateId"], "s1")
    os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(process.communicate, timeout=120)
    assert process.returncode == -signal.SIGKILL


# ---- the terminal


@pytest.fixture
def terminal(tmp_path: Path, env: dict[str, str]) -> Iterator[Any]:
    """A shell that a person types into."""
    shell = pexpect.spawn(
        "bash",
        ["--norc", "--noprofile", "-i"],
        cwd=str(tmp_path),
        env={**env, "PS1": "$ "},
        encoding="utf-8",
        timeout=20,
        echo=False,
    )
    yield shell
    end_at_once(shell)


def test_ctrl_c_is_for_the_program_alone_and_comes_once(terminal: Any):
    terminal.sendline(f"callboard watch -- {sys.executable} agent.py; echo ended $?")
    terminal.expect(r"pid \d+")
    for _ in range(3):
        terminal.sendcontrol("c")
        terminal.expect("got SIGINT")
    terminal.sendline("")
    pid = _child_of_watch(terminal.pid)
    os.kill(pid, signal.SIGTERM)
    terminal.expect("got SIGTERM")
    terminal.expect("ended 7")
    assert terminal.before.count("SIGINT") == 0


def test_ctrl_z_stops_it_and_fg_lets_it_go_on(terminal: Any):
    terminal.sendline(f"callboard watch -- {sys.executable} agent.py; echo ended $?")
    terminal.expect(r"pid (\d+)")
    agent = int(terminal.match[1])
    for _ in range(2):
        terminal.sendcontrol("z")
        terminal.expect("Stopped")
        assert Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        terminal.sendline("fg")
        terminal.expect("goes on")
    terminal.sendcontrol("c")
    terminal.expect("got SIGINT")
    os.kill(agent, signal.SIGKILL)
    terminal.expect("Killed|ended 137")


def test_a_program_that_stops_itself_stops_the_job(terminal: Any):
    terminal.sendline("callboard watch -- sh -c 'kill -STOP $$; echo back; exit 4'; echo x")
    terminal.expect("Stopped")
    terminal.sendline("fg; echo ended $?")
    terminal.expect("back")
    terminal.expect("ended 4")


def test_the_terminal_is_its_own(terminal: Any):
    code = "import os; print([os.isatty(n) for n in (0, 1, 2)], os.tcgetpgrp(0) == os.getpgrp())"
    terminal.sendline(f'callboard watch -- {sys.executable} -c "{code}"')
    terminal.expect_exact("[True, True, True] True")


def test_closing_the_terminal_ends_both(terminal: Any):
    terminal.sendline(f"callboard watch -- {sys.executable} agent.py")
    terminal.expect(r"pid (\d+)")
    agent = int(terminal.match[1])
    wrapper = _parent(agent)
    terminal.close()
    for pid in (agent, wrapper):
        while Path(f"/proc/{pid}/stat").exists() and _state(pid) != "Z":
            os.sched_yield()


def _child_of_watch(shell: int) -> int:
    (wrapper,) = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
    (agent,) = Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text().split()
    return int(agent)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"
