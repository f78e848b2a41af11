"""What macOS does differently from Linux, injected: errors, limits and signals."""

import asyncio
import errno
import fcntl
import json
import os
import plistlib
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard.cli import supervisors
from callboard.cli.attend_screen import Keyboard
from callboard.cli.commands import watch
from callboard.cli.service_units import ServiceCommand, launchd_agent
from callboard.cli.supervisors import Launchd
from callboard.clock import SystemClock
from callboard.courier import letters
from callboard.disk import files
from callboard.errors import SettingsUnusable
from callboard.log.commit_signal import Doorbell
from callboard.log.owners import Owners
from callboard.log.sqlite.file import connect, create_private
from callboard.server import activation
from callboard.systems import open_files
from callboard.systems.processes import started_at
from callboard.testing.log_suite_material import PATIENCE
from callboard.tui import alerts

ROOT = Path(__file__).parents[3]


@pytest.fixture
def darwin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")


def test_a_watched_program_has_a_handler_for_its_end():
    """macOS drops signals that are ignored by default, even blocked ones: `sigwait` would hang."""
    done = subprocess.run(
        [sys.executable, "-c", _WATCH], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "handled 3\n"


_WATCH = """
import os, signal
from callboard.cli.commands.watch import ChildProgram

del signal.sigwaitinfo  # macOS has none.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = ChildProgram.start(("sh", "-c", "exit 3"))
handled = callable(signal.getsignal(signal.SIGCHLD))
print("handled" if handled else "dropped", os.waitstatus_to_exitcode(child.wait()))
"""


def test_a_signal_of_a_terminal_is_not_passed_on_where_its_sender_is_unknown(monkeypatch):
    monkeypatch.delattr(signal, "sigwaitinfo")
    monkeypatch.setattr(signal, "sigwait", lambda held: signal.SIGINT)
    assert watch._next_signal() == (signal.SIGINT, True)
    monkeypatch.setattr(signal, "sigwait", lambda held: signal.SIGTERM)
    assert watch._next_signal() == (signal.SIGTERM, False)


class Listening(socket.socket):
    """A socket that launchd passes on: the system does not say whether it listens."""

    def getsockopt(self, *given: Any) -> Any:
        raise OSError(errno.ENOPROTOOPT, "Protocol not available")


def test_a_socket_that_does_not_say_whether_it_listens_is_used(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setattr(activation.socket, "socket", Listening)
        found = activation._socket(os.dup(listening.fileno()))
        assert found is not None
        found.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ("long" * 40)
    made.mkdir()
    return made


class FullSocket:
    """Sends to a listener whose buffer is full, as macOS does it."""

    def sendto(self, data: bytes, address: str) -> int:
        raise OSError(errno.ENOBUFS, "No buffer space available")

    def close(self) -> None:
        pass


async def test_a_listener_with_a_full_buffer_stays_known(tmp_path: Path):
    owners = Owners(tmp_path, SystemClock().monotonic)
    doorbell = Doorbell(owners, SystemClock().now_ms)
    (tmp_path / "other.sock").touch()
    assert doorbell._sender is not None
    doorbell._sender.close()
    doorbell._sender = FullSocket()  # pyright: ignore[reportAttributeAccessIssue]
    doorbell.ring()
    assert doorbell._peers == ["other"]
    doorbell.close()
    owners.close()


@pytest.fixture
def no_proc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """No /proc, and a folder for temporary files, with a path as short as that of a Mac's."""
    with tempfile.TemporaryDirectory(prefix="T", dir="/tmp") as there:
        monkeypatch.setattr(open_files, "_OPEN", tmp_path / "no-proc")
        monkeypatch.setattr(tempfile, "tempdir", there)
        yield Path(there)


async def test_a_long_path_is_rung_through_a_link(folder: Path, no_proc: Path):
    made = [Owners(folder, SystemClock().monotonic) for _ in range(2)]
    ringing, other = (Doorbell(one, SystemClock().now_ms) for one in made)
    heard = asyncio.Event()
    other.listen(heard.set)
    ringing.ring()
    async with asyncio.timeout(PATIENCE):
        await heard.wait()
    (link,) = no_proc.iterdir()
    assert link.readlink() == folder
    for one in (ringing, other, *made):
        one.close()


@pytest.mark.parametrize("taken", ["file", "elsewhere", "other-user"])
async def test_a_link_of_someone_else_is_not_used(
    folder: Path, no_proc: Path, taken: str, monkeypatch: pytest.MonkeyPatch
):
    link = Path(open_files.short_folder(folder, -1))
    if taken == "other-user":
        found = os.lstat(link)
        theirs = os.stat_result((*found[:4], os.geteuid() + 1, *found[5:]))
        monkeypatch.setattr(Path, "lstat", lambda self: theirs)
    else:
        link.unlink()
        link.touch() if taken == "file" else link.symlink_to(no_proc)
    with pytest.raises(PermissionError):
        open_files.short_folder(folder, -1)
    owners = Owners(folder, SystemClock().monotonic)
    doorbell = Doorbell(owners, SystemClock().now_ms)
    doorbell.listen(lambda: None)
    assert doorbell._ear is None
    doorbell.close()
    owners.close()


@pytest.mark.parametrize("number", [errno.EPERM, errno.EINVAL])
async def test_a_file_as_input_is_never_typed_into(number: int, monkeypatch):
    def refused(*given: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", refused)
    with Path(os.devnull).open(encoding="ascii") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert await Keyboard().line(0) is None


def test_a_commit_reaches_the_disk_itself(darwin: None, tmp_path: Path):
    create_private(tmp_path / "a.db")
    database = connect(tmp_path / "a.db")
    for name in ("fullfsync", "checkpoint_fullfsync"):
        assert database.execute(f"PRAGMA {name}").fetchone() == (1,)
    database.close()


@pytest.mark.parametrize("is_known", [True, False])
def test_a_file_reaches_the_disk_itself(darwin: None, is_known: bool, tmp_path, monkeypatch):
    calls: list[str] = []

    def full(opened: int, request: int) -> None:
        calls.append(f"full {request}")
        if not is_known:
            raise OSError(errno.ENOTSUP, "not here")

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full)
    monkeypatch.setattr(files.posix, "fsync", lambda opened: calls.append("plain"))
    files.replace(tmp_path / "a", b"content")
    assert calls == (["full 51"] * 2 if is_known else ["full 51", "plain"] * 2)


LAUNCHCTL = """#!/bin/sh
echo "$1" >> "$HOME/told"
[ "$1" = bootstrap ] || exit 0
[ "$(grep -c bootstrap "$HOME/told")" -gt "$FAILURES" ] && exit 0
echo "Bootstrap failed: $CODE: Input/output error" >&2
exit "$CODE"
"""


@pytest.fixture
def launchctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "launchctl"
    program.parent.mkdir()
    program.write_text(LAUNCHCTL, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODE", "5")
    monkeypatch.setattr(supervisors, "_TRY_EVERY", 0)
    return tmp_path / "told"


def test_an_agent_that_is_still_being_removed_is_loaded_a_little_later(launchctl, monkeypatch):
    monkeypatch.setenv("FAILURES", "3")
    Launchd().start()
    assert launchctl.read_text().split() == ["bootout", *["bootstrap"] * 4]


def test_an_agent_that_cannot_be_loaded_is_an_error(launchctl, monkeypatch):
    monkeypatch.setenv("FAILURES", "1000")
    monkeypatch.setattr(supervisors, "_REMOVED_WITHIN", 0.0)
    with pytest.raises(SettingsUnusable, match="Input/output error"):
        Launchd().start()
    monkeypatch.setenv("CODE", "78")
    monkeypatch.setattr(supervisors, "_REMOVED_WITHIN", 600.0)
    with pytest.raises(SettingsUnusable):
        Launchd().start()


def test_an_agent_finds_programs_opens_many_files_and_is_not_slowed_down(tmp_path: Path):
    served = ServiceCommand("callboard", ("callboard", "serve"), tmp_path / "log", 2255)
    agent = plistlib.loads(launchd_agent(served, "/brew/bin:/usr/bin:/bin"))
    assert agent["EnvironmentVariables"] == {"PATH": "/brew/bin:/usr/bin:/bin"}
    assert agent["SoftResourceLimits"]["NumberOfFiles"] >= 4096
    assert agent["ProcessType"] == "Interactive"


def test_a_desktop_message_is_an_argument_and_never_a_script(darwin: None, monkeypatch):
    started: list[list[str]] = []
    monkeypatch.setattr(alerts, "_start", started.append)
    monkeypatch.setattr(alerts.shutil, "which", lambda name: name == "osascript" or None)
    alerts._desktop('-e" & beep', "asks")
    (command,) = started
    assert command[0] == "osascript"
    assert command[-3:] == ["--", '-e" & beep', "asks"]
    assert "beep" not in " ".join(command[:-2])


def test_a_workflow_a_server_and_its_client_work_without_proc(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.as_mac", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["status: completed", "macos False"]


async def test_the_server_adds_the_start_that_a_hook_could_not_look_up(monkeypatch):
    read = letters.read_small

    def hidden(path: str | bytes) -> bytes | None:
        return None if b"/proc" in os.fsencode(path) else read(path)

    monkeypatch.setattr("callboard.courier.processes.read_small", hidden)
    monkeypatch.setattr(letters, "read_small", hidden)
    payload = b'{"session_id": "s1", "hook_event_name": "SessionStart", "cwd": "/x"}'
    letter = letters.Letter("", "codex", payload)
    assert letter.sender.pid == os.getppid()
    assert b"proc_start" not in letter.body()
    board = Board()
    plate = await board.payload("codex", json.loads(letter.body()))
    assert (plate.pid, plate.proc_start) == (os.getppid(), started_at(os.getppid()))


async def test_a_client_that_registers_without_its_start_is_the_same_one():
    plates = Board().plates
    known = await plates.register("claude", project_path="/x", pid=os.getpid())
    assert known.proc_start == started_at(os.getpid())
    again = await plates.register(
        "claude", project_path="/x", pid=os.getpid(), proc_start=started_at(os.getpid())
    )
    assert again.plate_id == known.plate_id
    assert (await plates.register("claude", project_path="/x", pid=os.getpid())) == known
