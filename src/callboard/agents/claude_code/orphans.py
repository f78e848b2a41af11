"""What a client that was killed left running, and how it is ended.

Everything that a client starts inherits a mark in its environment: whose run it is, and which
process started it. So what is ours is known without any record that a crash could lose.
"""

import os
from functools import partial

from callboard.systems.current import system
from callboard.systems.processes import started_at
from callboard.vendors.claude.launching import MARK


def mark(run: str) -> str:
    """The mark of what this process starts for a run."""
    return f"{run}:{os.getpid()}:{started_at(os.getpid())}"


def end_leftovers(run: str) -> int:
    """Kill what bears the run's mark, unless its parent is still alive; returns how many.

    What another living process started is that one's to end: it hears that the run is no longer its
    own, or it works on another database.
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
