"""Go to a session's terminal, or resume one that was closed."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Final

from callboard.board.hosts import local_host
from callboard.board.plate import Plate
from callboard.clock import Clock
from callboard.errors import CallboardError, ConflictError, NotFound
from callboard.systems.processes import ancestors
from callboard.terminals.records import own_terminals
from callboard.tui.text import home_path, one_line
from callboard.vendors.agents import VENDORS

_TARGET: Final = re.compile(r"[%@$A-Za-z0-9_][\w.:%@$-]*")
_PATIENCE: Final = 5.0
_LOOK_EVERY: Final = 2.0


def go_to(target: str) -> None:
    """Show the pane in this terminal; if that isn't possible, the error says what to type."""
    if not _TARGET.fullmatch(target):
        raise NotFound("Not a tmux pane.", target=target)
    if not os.environ.get("TMUX"):
        raise CallboardError(
            f"This terminal is not in tmux. Go there with: tmux attach -t {shlex.quote(target)}"
        )
    for command in ("select-window", "select-pane", "switch-client"):
        _tmux(command, target)


class BackgroundTerminals:
    """Which agents run in terminals of Callboard on this machine, looked up every few seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looked_at = float("-inf")
        self._pids: set[int] = set()

    def runs(self, plate: Plate) -> bool:
        """Whether a plate's agent does, itself or as a child process."""
        pid, _ = plate.terminal_process
        if pid is None or plate.status == "closed" or plate.host not in ("", local_host().id):
            return False
        now = self._clock.monotonic()
        if now - self._looked_at >= _LOOK_EVERY:
            self._pids, self._looked_at = {one.pid for one in own_terminals()}, now
        return bool(self._pids) and any(one.pid in self._pids for one in ancestors(pid))


def attach_here(plate: Plate) -> str:
    """Show an agent's terminal in this one until the person leaves it; returns how it ended."""
    # Not on Windows.
    from callboard.board.attaching import attach, ending
    from callboard.terminals.persons_terminal import PersonsTerminal

    ended = attach(PersonsTerminal(), plate)
    said = ending(ended)
    if ended.how == "attached":
        again = f"callboard attach {plate.plate_id} --take"
        raise ConflictError(f"{said} Take it over with: {again}")
    return f"{said} Press t to attach again." if ended.how == "left" else said


def _tmux(command: str, target: str) -> None:
    try:
        done = subprocess.run(
            ["tmux", command, "-t", target],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CallboardError("tmux is not responding.") from error
    if done.returncode:
        raise NotFound(f"tmux cannot go to {target}: {done.stderr.strip()}", target=target)


def resume_command(plate: Plate) -> list[str]:
    """The command that resumes a plate's session; an error says why it can't be resumed."""
    agent = plate.agent
    command = VENDORS[agent].resume(plate.session_id) if agent in VENDORS else []
    if not command:
        raise CallboardError(f"Don't know how to resume this session of {one_line(agent)}.")
    if shutil.which(command[0]) is None:
        raise NotFound(f"There is no command {command[0]} on this machine.", command=command[0])
    return command


def folder_of(plate: Plate) -> Path:
    """The folder to resume it in."""
    folder = Path(plate.project_path)
    if not folder.is_absolute() or not folder.is_dir():
        raise NotFound(
            f"Its folder {home_path(str(folder))} is not on this machine.", path=str(folder)
        )
    return folder


def run_here(command: list[str], folder: Path) -> int:
    """Run it in this terminal until it ends; Ctrl-C goes to the client, not to us."""
    before = signal.signal(signal.SIGINT, _nothing)
    try:
        return subprocess.run(command, cwd=folder, env=dict(os.environ), check=False).returncode
    except OSError as error:
        raise CallboardError(f"Cannot start {command[0]}: {error.strerror}.") from error
    finally:
        signal.signal(signal.SIGINT, before)


def _nothing(*_: object) -> None:
    """A handler, because ignored signals would also be ignored in the client."""
