"""Ends the processes that a killed client left running.

Everything that a client starts inherits a marker in its environment: the run it belongs to, and the
process that started it. So our processes can be found without a record that a crash could lose.

macOS hides the environment of its own programs, such as /bin/sh. Those belong to the same run as
the process that they descend from, for as long as that one lives.
"""

import os
from collections.abc import Collection
from functools import partial

from callboard.systems.current import system
from callboard.systems.processes import Lineage, Process, ancestors, is_alive, started_at
from callboard.vendors.claude.launching import MARK


def mark(run: str) -> str:
    """The marker for what this process starts for a run."""
    return f"{run}:{os.getpid()}:{started_at(os.getpid())}"


def unmarked(run: str) -> list[Process]:
    """The processes of a run that don't show their environment. Look before their parents end."""
    hidden = [pid for pid in system.pids() if not system.environment(pid)]
    return [line[0] for pid in hidden if _descends(line := ancestors(pid), run)]


def end_leftovers(run: str, known: Collection[Process] = ()) -> int:
    """Kill the processes marked with this run, unless another living process started them.

    That process ends them itself: it learns that it lost the run, or it works on another database.
    known: those found earlier that are not marked. Returns how many were killed.
    """
    found = [*known, *unmarked(run)]
    others = [pid for pid in system.pids() if pid != os.getpid()]
    marked = [pid for pid in others if _is_ours(pid, run)]
    ended = sum(system.kill(pid, partial(_is_ours, pid, run)) for pid in marked)
    return ended + sum(system.kill(one.pid, partial(is_alive, one.pid, one.start)) for one in found)


def _descends(line: Lineage, run: str) -> bool:
    """Whether the nearest process above the first one that shows its environment is of the run."""
    shown = next((one.pid for one in line[1:] if system.environment(one.pid)), None)
    return shown is not None and shown != os.getpid() and _is_ours(shown, run)


def _is_ours(pid: int, run: str) -> bool:
    wanted = f"{MARK}={run}:".encode()
    for entry in system.environment(pid):
        if entry.startswith(wanted):
            starter, _, start = entry.removeprefix(wanted).decode(errors="replace").partition(":")
            if not starter.isdigit():
                return False
            return int(starter) == os.getpid() or started_at(int(starter)) != start
    return False
