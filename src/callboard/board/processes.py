"""Whether a process is still the one that we mean: by its number and by when it began."""

import os
import subprocess
import sys
from pathlib import Path

_START_FIELD = 22


def started_at(pid: int) -> str | None:
    """When a process began, in words that only it has; None when there is none."""
    return _from_proc(pid) if sys.platform == "linux" else _from_ps(pid)


def is_alive(pid: int, proc_start: str | None) -> bool:
    """Whether the process lives; without its start, whether any of that number does."""
    found = started_at(pid)
    return found is not None and proc_start in (None, found)


def ancestors(pid: int) -> list[int]:
    """The process, its parent, and so on: as far as can be seen."""
    line: list[int] = []
    while pid > 0 and pid not in line:
        line.append(pid)
        pid = _parent(pid)
    return line


def _from_proc(pid: int) -> str | None:
    fields = _stat(pid)
    # A process that has ended and that nobody has waited for does nothing any more.
    if fields is None or fields[0] in ("Z", "X"):
        return None
    return fields[_START_FIELD - 3]


def _parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields is not None else 0


def _stat(pid: int) -> list[str] | None:
    """The fields from the third on: the second is a name, which may hold anything."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _from_ps(pid: int) -> str | None:
    if not _exists(pid):
        return None
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.stdout.strip() or None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
