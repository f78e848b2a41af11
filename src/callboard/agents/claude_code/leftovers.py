"""What a client that was killed left running, and how it is ended.

Everything that a client starts inherits a mark in its environment: whose run it is, and which
process began it. So what is ours is known without any record that a crash could lose. Only Linux
lets us see the mark; elsewhere nothing is found.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from callboard.courier.processes import Process

MARK: Final = "CALLBOARD_CLAUDE_RUN"
_PROCESSES: Final = Path("/proc")


def mark(run: str) -> str:
    """The mark of what this process starts for a run."""
    return f"{run}:{os.getpid()}:{_started_at(os.getpid())}"


def end_leftovers(run: str) -> int:
    """Kill what bears the run's mark, unless whoever began it still lives; returns how many.

    What another living process began is that one's to end: it hears that the run is no longer its
    own, or it works on another database.
    """
    return sum(_end(pid, run) for pid in list(_marked(run)))


def works_for_a_run(pid: int) -> bool:
    """Whether a client that runs in a session started this process, or one of those above it."""
    # A process can take the mark off what it starts (`env -u`), but not off itself.
    while pid > 0:
        if _is_marked(pid):
            return True
        pid = Process(pid).parent
    return False


def _is_marked(pid: int) -> bool:
    mine = f"{MARK}=".encode()
    environ = _read(_PROCESSES / str(pid) / "environ")
    return any(entry.startswith(mine) for entry in environ.split(b"\0"))


def _marked(run: str) -> Iterator[int]:
    if not hasattr(os, "pidfd_open"):
        return
    for entry in _PROCESSES.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and _is_ours(entry, run):
            yield int(entry.name)


def _end(pid: int, run: str) -> bool:
    """Kill a process, and no other that may have got its number meanwhile."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _is_ours(_PROCESSES / str(pid), run):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _is_ours(process: Path, run: str) -> bool:
    wanted = f"{MARK}={run}:".encode()
    for entry in _read(process / "environ").split(b"\0"):
        if entry.startswith(wanted):
            pid, _, start = entry.removeprefix(wanted).decode(errors="replace").partition(":")
            return pid.isdigit() and (int(pid) == os.getpid() or _started_at(int(pid)) != start)
    return False


def _started_at(pid: int) -> str:
    """When a process began; nothing when it has ended."""
    fields = _read(_PROCESSES / str(pid) / "stat").rpartition(b")")[2].split()
    return fields[19].decode() if len(fields) > 19 and fields[0] not in (b"Z", b"X") else ""


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""  # It has ended meanwhile, or it is another user's.
