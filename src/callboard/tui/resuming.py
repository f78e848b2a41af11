"""Taking up a closed session again, in this terminal."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from callboard.errors import CallboardError, NotFound
from callboard.tui.rows import Plate
from callboard.tui.wording import home_path, one_line
from callboard.vendors.agents import VENDORS


def resume_command(plate: Plate) -> list[str]:
    """The command that resumes a plate's session; an error says why there is none."""
    agent = str(plate.get("agent"))
    session = str(plate.get("sessionId") or "")
    command = VENDORS[agent].resume(session) if agent in VENDORS else []
    if not command:
        raise CallboardError(f"Nobody here knows how to resume this session of {one_line(agent)}.")
    if shutil.which(command[0]) is None:
        raise NotFound(f"There is no command {command[0]} on this machine.", command=command[0])
    return command


def folder_of(plate: Plate) -> Path:
    """Where to resume it."""
    folder = Path(str(plate.get("projectPath") or ""))
    if not folder.is_absolute() or not folder.is_dir():
        raise NotFound(
            f"Its folder {home_path(str(folder))} is not on this machine.", path=str(folder)
        )
    return folder


def run_here(command: list[str], folder: Path) -> int:
    """Run it in this terminal, to its end; Ctrl-C is for the client and not for us."""
    before = signal.signal(signal.SIGINT, _nothing)
    try:
        return subprocess.run(command, cwd=folder, env=dict(os.environ), check=False).returncode
    except OSError as error:
        raise CallboardError(f"Cannot start {command[0]}: {error.strerror}.") from error
    finally:
        signal.signal(signal.SIGINT, before)


def _nothing(*_: Any) -> None:
    """A handler, because what is ignored here would be ignored in the client too."""
