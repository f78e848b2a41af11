"""Whether a process is still the one that we mean: by its number and by when it began."""

import os
import subprocess
import sys

from callboard.courier.processes import Process, read_small


def started_at(pid: int) -> str | None:
    """When a process began, in words that only it has; None when there is none."""
    return Process(pid).start or None if sys.platform == "linux" else _from_ps(pid)


def is_alive(pid: int, proc_start: str | None) -> bool:
    """Whether the process lives; without its start, whether any of that number does."""
    found = started_at(pid)
    return found is not None and proc_start in (None, found)


def ancestors(pid: int) -> list[int]:
    """The process, its parent, and so on: as far as can be seen."""
    line: list[int] = []
    while pid > 0 and pid not in line:
        line.append(pid)
        pid = Process(pid).parent
    return line


def lineage_of(pid: int) -> tuple[Process, ...] | None:
    """The process, its parent, and so on, as far as can be seen; None if one of them has ended."""
    line: list[Process] = []
    while pid > 0:
        process = Process(pid)
        if not process.start:
            return tuple(line) if line and _is_hidden(pid) else None
        line.append(process)
        pid = process.parent
    return tuple(line)


def _is_hidden(pid: int) -> bool:
    """Whether a process is another user's: with `hidepid`, /proc does not show those."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def user_of(pid: int) -> int | None:
    """The effective user of a process; None if it has ended."""
    for line in (read_small(f"/proc/{pid}/status") or b"").splitlines():
        if line.startswith(b"Uid:"):
            return int(line.split()[2])
    return None


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
