"""Who is at the other end of a terminal's socket: a person's program, or an agent's."""

import socket
from collections.abc import Callable
from pathlib import Path

from callboard.systems.current import system
from callboard.systems.processes import lineage_of
from callboard.terminals.records import own_terminals

IsAgents = Callable[[socket.socket], bool]
"""Whether a connection comes from an agent."""


def agents_callers(folder: Path) -> IsAgents:
    """What recognizes agents in the terminals that are recorded in a folder.

    A process that has ended, or isn't visible, counts as an agent's: it could be hiding that.
    """

    def is_agents(connected: socket.socket) -> bool:
        pid = system.peer_of(connected)
        if pid is None:  # This system doesn't say.
            return False
        line = lineage_of(pid)
        known = {(one.pid, one.start) for one in own_terminals(folder)}
        return line is None or any((one.pid, one.start) in known for one in line)

    return is_agents
