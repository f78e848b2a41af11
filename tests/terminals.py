"""Terminals of our own with a small program in them instead of an agent, and people at them."""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pexpect
import psutil

from callboard.terminals.link import screen_of
from callboard.terminals.records import OwnTerminal, own_terminals, terminal_of
from callboard.terminals.starting import TerminalStart, start_in_terminal

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
PATIENCE = 20.0
PROGRAM = """
import os, signal, sys, time, tty

tty.setcbreak(0)
print("ready", flush=True)
word = ""
while True:
    typed = os.read(0, 1).decode()
    if typed != "\\n":
        word += typed
        continue
    name, _, rest = word.partition(" ")
    word = ""
    if name == "say":
        print(rest.encode().decode("unicode_escape"), end="", flush=True)
    elif name == "size":
        print("{0.lines}x{0.columns}".format(os.get_terminal_size()), flush=True)
    elif name == "flood":
        for line in range(int(rest)):
            print(f"{line} " + "x" * 100)
        print("flooded", flush=True)
    elif name == "run":
        exec(rest)
    elif name == "exit":
        sys.exit(int(rest))
"""
ATTACHED = """
import sys
from callboard.terminals.attaching import Attaching
from callboard.terminals.link import connection
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.terminals.records import own_terminals

(own,) = [one for one in own_terminals() if one.id == sys.argv[1]]
with connection(own) as connected:
    connected.setblocking(False)
    print("before")
    ended = Attaching(connected, PersonsTerminal()).run(take="--take" in sys.argv)
print(f"how: {ended.how} {ended.code}.", flush=True)
sys.stdin.read(1)
"""


def until(look: Callable[[], T | None], what: str) -> T:
    """Wait until there is something."""
    ends = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < ends, f"still not so: {what}"
        time.sleep(0.02)
    return found


@dataclass
class OwnTerminals:
    """Starts programs in terminals, and ends them."""

    folder: Path
    people: list[Any] = field(default_factory=list)

    @classmethod
    def made_in(cls, tmp_path: Path) -> "OwnTerminals":
        """Its folder is short enough for sockets."""
        return cls(Path(tempfile.mkdtemp(prefix="cb-terminals-", dir=tmp_path.anchor + "tmp")))

    @property
    def records(self) -> list[OwnTerminal]:
        return own_terminals(self.folder / "callboard" / "terminals")

    def program(self, name: str, script: str) -> Path:
        """Install a program; its folder, for the path."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
        return folder

    def start(self, program: str = PROGRAM, env: Mapping[str, str] = os.environ) -> OwnTerminal:
        """Start a program, and wait until it is ready."""
        words = [sys.executable, "-c", program]
        wanted = TerminalStart("claude", words, self.folder)
        started = start_in_terminal(wanted, env, sys.executable)
        own = terminal_of(started.pid, started.start)
        assert own is not None
        if program == PROGRAM:
            self.shows(own, "ready")
        return own

    def shows(self, own: OwnTerminal, text: str) -> list[str]:
        """Wait until the terminal shows a text; its lines."""

        def look() -> list[str] | None:
            found = screen_of(own)
            return found.lines if found and any(text in one for one in found.lines) else None

        return until(look, f"{text!r} on the screen; there is {screen_of(own)}")

    def attach(self, own: OwnTerminal, *more: str, rows: int = 24, columns: int = 80) -> Any:
        """A person's terminal that is attached."""
        child = pexpect.spawn(
            sys.executable,
            ["-c", ATTACHED, own.id, *more],
            cwd=str(ROOT),
            timeout=PATIENCE,
            dimensions=(rows, columns),
        )
        self.people.append(child)
        return child

    def close(self) -> None:
        for child in self.people:
            end_at_once(child)
        for one in self.records:
            for pid in (one.pid, one.host_pid):
                if psutil.pid_exists(pid):
                    psutil.Process(pid).kill()


def end_at_once(child: Any) -> None:
    """End what runs in a terminal, however long that takes on a busy machine."""
    if child.isalive():
        child.kill(signal.SIGKILL)
        child.wait()
    child.close()


def is_gone(pid: int) -> bool:
    """Whether a process has ended."""
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
