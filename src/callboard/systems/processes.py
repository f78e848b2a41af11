"""Whether a process is still the same one, and which processes it descends from."""

import os

from callboard.systems.current import system

Process = system.Process

Lineage = tuple[Process, ...]
"""A process, its parent, and so on up to the first one."""


def started_at(pid: int) -> str | None:
    """A process's start, as text unique among processes with its id; None if it has ended."""
    return Process(pid).start or None


def is_alive(pid: int, proc_start: str | None) -> bool:
    """Whether the process is running; without its start, whether any with this id is."""
    found = started_at(pid)
    return found is not None and proc_start in (None, found)


def ancestors(pid: int) -> Lineage:
    """The process, its parent, and so on, as far as visible."""
    line: dict[int, Process] = {}
    while pid > 0 and pid not in line:
        line[pid] = Process(pid)
        pid = line[pid].parent
    return tuple(line.values())


def lineage_of(pid: int) -> Lineage | None:
    """The same; None if one of them has ended."""
    line = ancestors(pid)
    *known, last = line or (Process(0),)
    if last.start:
        return line
    return tuple(known) if known and _is_hidden(last.pid) else None


def _is_hidden(pid: int) -> bool:
    """Whether a process belongs to another user: a system may hide those."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return False
