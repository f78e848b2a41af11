"""A tmux window for a session; the process that opened it may exit."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.display.lines import visible
from callboard.errors import NotFound

_LOOK_AGAIN: Final = 0.3
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "CLAUDE_CONFIG_DIR", "CALLBOARD_DB")
"""Variables to pass to a window, because tmux has its own. No secrets: arguments are visible."""


def check_tmux() -> None:
    """Raise an error unless there is a tmux to open windows in."""
    if shutil.which("tmux") is None:
        raise NotFound("tmux is not installed. Install it, or leave --tmux out.")
    if subprocess.run(["tmux", "list-sessions"], capture_output=True, check=False).returncode:
        raise NotFound("No tmux is running. Start one, or leave --tmux out.")


async def run_in_window(name: str, words: Sequence[str], cwd: Path) -> None:
    """Run a command in a window until both have ended; raises an OSError if it can't be opened."""
    given = [f"-e{key}={os.environ[key]}" for key in _PASSED_ON if key in os.environ]
    where = ["-n", _plain(visible(name, keep="")), "-c", _plain(str(cwd))]
    # tmux's own token may be another server's. The right one comes in a file.
    without = [shutil.which("env") or "env", "-u", "CALLBOARD_TOKEN"]
    told = _tmux("new-window", "-P", "-F", "#{pane_id}", *where, *given, "--", *without, *words)
    pane = told.strip()
    while _lives(pane):  # noqa: ASYNC110 - tmux tells no one of it
        await asyncio.sleep(_LOOK_AGAIN)
    with suppress(OSError):
        _tmux("kill-pane", "-t", pane)


def _lives(pane: str) -> bool:
    """Whether a command runs in it; tmux reports nothing about a pane that is gone."""
    try:
        told = _tmux("display-message", "-p", "-t", pane, "#{pane_dead},#{pane_id}")
    except OSError:
        return False
    return told.strip() == f"0,{pane}"


def _plain(text: str) -> str:
    """Escape text where tmux takes a format, in which a shell would run `#(…)`."""
    return text.replace("#", "##")


def _tmux(*words: str) -> str:
    # At the end of a word, a semicolon would end tmux's own command.
    whole = [word[:-1] + "\\;" if word.endswith(";") else word for word in words]
    done = subprocess.run(["tmux", *whole], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(done.returncode, done.stderr.strip() or "tmux failed")
    return done.stdout
