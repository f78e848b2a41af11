"""Going to where a session runs: its tmux pane."""

import os
import re
import shlex
import subprocess
from typing import Final

from callboard.errors import CallboardError, NotFound

_TARGET: Final = re.compile(r"[%@$A-Za-z0-9_][\w.:%@$-]*")
_PATIENCE: Final = 5.0


def go_to(target: str) -> None:
    """Show the pane in this terminal; an error says what to type where that cannot be."""
    if not _TARGET.fullmatch(target):
        raise NotFound("This is no name of a tmux pane.", target=target)
    if not os.environ.get("TMUX"):
        raise CallboardError(
            f"This terminal is not in tmux. Go there with: tmux attach -t {shlex.quote(target)}"
        )
    for command in ("select-window", "select-pane", "switch-client"):
        _tmux(command, target)


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
        raise CallboardError("tmux does not answer.") from error
    if done.returncode:
        raise NotFound(f"tmux cannot go to {target}: {done.stderr.strip()}", target=target)
