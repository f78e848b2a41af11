"""Ends the processes that a killed client left running.

Everything that a client starts inherits a marker in its environment: the run it belongs to, and the
process that started it. So our processes can be found without a record that a crash could lose.
"""

import os
from functools import partial

from callboard.systems.current import system
from callboard.systems.processes import started_at
from callboard.vendors.claude.launching import MARK


def mark(run: str) -> str:
    """The marker for what this process starts for a run."""
    return f"{run}:{os.getpid()}:{started_at(os.getpid())}"


def end_leftovers(run: str) -> int:
    """Kill the processes marked with this run, unless another living process started them.

    That process ends them itself: it learns that it lost the run, or it works on another database.
    Returns how many were killed.
    """
    others = [pid for pid in system.pids() if pid != os.getpid()]
    marked = [pid for pid in others if _is_ours(pid, run)]
    return sum(system.kill(pid, partial(_is_ours, pid, run)) for pid in marked)


def _is_ours(pid: int, run: str) -> bool:
    wanted = f"{MARK}={run}:".encode()
    for entry in system.environment(pid):
        if entry.startswith(wanted):
            starter, _, start = entry.removeprefix(wanted).decode(errors="replace").partition(":")
            if not starter.isdigit():
                return False
            return int(starter) == os.getpid() or started_at(int(starter)) != start
    return False
