"""An agent in a window of tmux, of which we only learn that it has ended."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.errors import NotFound
from callboard.harness.passthrough import Exit

_LOOK_AGAIN: Final = 0.3
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "CLAUDE_CONFIG_DIR", "CALLBOARD_DB")
"""What a window does not have from tmux as we have it. Secrets are not: arguments can be seen."""


class Window:
    """One window. tmux gives it its own environment, less what we do not want there."""

    def __init__(self) -> None:
        self.pane = ""
        self.pid = 0

    @staticmethod
    def check() -> None:
        """An error unless there is a tmux to open windows in."""
        if shutil.which("tmux") is None:
            raise NotFound("tmux is not installed. Install it, or leave --tmux out.")
        if subprocess.run(["tmux", "list-sessions"], capture_output=True, check=False).returncode:
            raise NotFound("No tmux is running. Start one, or leave --tmux out.")

    def start(self, name: str, words: Sequence[str], cwd: Path, unwanted: Sequence[str]) -> None:
        """Open it; an OSError when that cannot be done."""
        given = [f"-e{key}={os.environ[key]}" for key in _PASSED_ON if key in os.environ]
        without = [f"-u{key}" for key in unwanted]
        told = _tmux(
            "new-window", "-P", "-F", "#{pane_id} #{pane_pid}", "-n", name, "-c", str(cwd), *given,
            "--", "env", *without, *words,
            ";", "set-option", "-p", "remain-on-exit", "on",
        )  # fmt: skip
        self.pane, pid = told.split()
        self.pid = int(pid)

    async def ended(self) -> Exit:
        """Wait until the agent has ended, and close the window."""
        while True:
            told = _told(self.pane)
            if told is None or told[0] == "1":
                break
            await asyncio.sleep(_LOOK_AGAIN)
        close(self.pane)
        return Exit(None if told is None else _status(told))

    def notify(self, text: str) -> None:
        """Show a line to whoever looks at it."""
        with suppress(OSError):
            _tmux("rename-window", "-t", self.pane, text[:40])
        with suppress(OSError):
            _tmux("display-message", "-t", self.pane, "-d", "5000", text)

    def ring(self) -> None:
        """Nothing: the message and the window's name have to do."""

    def resize(self) -> None:
        """Nothing: tmux sees to it."""

    def send(self, number: signal.Signals, *, to_all: bool = False) -> None:
        """Send the agent a signal."""
        with suppress(ProcessLookupError, PermissionError):
            (os.killpg if to_all else os.kill)(self.pid, number)


def close(pane: str) -> None:
    """Close a window whose agent has ended."""
    with suppress(OSError):
        _tmux("kill-pane", "-t", pane)


def unwanted(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What a cleaned environment has no more."""
    return [name for name in before if name not in after]


def _told(pane: str) -> list[str] | None:
    """Whether it is dead, its exit code, the signal that ended it; None when it is not there."""
    try:
        told = _tmux("display-message", "-p", "-t", pane,
                     "#{pane_dead},#{pane_dead_status},#{pane_dead_signal},#{pane_id}")  # fmt: skip
    except OSError:
        return None
    found = told.strip().split(",")
    return found if found[-1] == pane else None


def _status(told: Sequence[str]) -> int | None:
    if told[1].isdecimal():
        return int(told[1]) << 8
    return int(told[2]) if told[2].isdecimal() else None


def _tmux(*words: str) -> str:
    done = subprocess.run(["tmux", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(done.returncode, done.stderr.strip() or "tmux failed")
    return done.stdout
