"""Which processes belong to coding agents. They may not answer questions to people.

An agent runs as the same user as the person it works for, so it could approve its own requests. The
server and the command line use the rule here to prevent that.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from callboard.errors import Forbidden
from callboard.systems.current import system
from callboard.systems.processes import Lineage
from callboard.vendors.claude.launching import MARK

_INIT: Final = 1


@dataclass(frozen=True, slots=True)
class AgentProcess:
    """The process of an agent on the board; without a start time, any with its process id."""

    pid: int
    start: str | None

    def is_in(self, line: Lineage) -> bool:
        """Whether it is this process or one of its ancestors."""
        return any(one.pid == self.pid and self.start in (None, one.start) for one in line)


def agent_process(pid: int | None, start: str | None, status: str) -> AgentProcess | None:
    """The process of a plate, if it can be told apart from others.

    A closed plate counts as long as its process runs, because an agent can report its own end. The
    id of a process without a start time may have been reused by then. All processes descend from
    the first one, so a plate cannot claim to be that.
    """
    if pid is None or pid == _INIT or (start is None and status == "closed"):
        return None
    return AgentProcess(pid, start)


def is_agents(lineages: Iterable[Lineage], agents: Collection[AgentProcess]) -> bool:
    """Whether one of these processes is a coding agent, or was started by one.

    agents: the processes of agents on the board. Agents that Callboard started are recognized by
    their marker, whether they are on the board or not.
    """
    return any(
        any(agent.is_in(line) for agent in agents) or any(_is_marked(one.pid) for one in line)
        for line in lineages
    )


def _is_marked(pid: int) -> bool:
    # A process can remove the marker from what it starts (`env -u`), but not from itself.
    return any(entry.startswith(_ENTRY) for entry in system.environment(pid))


_ENTRY: Final = f"{MARK}=".encode()


def not_by_agents(interaction_id: str) -> Forbidden:
    """The error for an answer from a coding agent."""
    return Forbidden(
        "This answer comes from a coding agent. A person has to give it: in the dashboard, in "
        "`callboard board`, or in another terminal.",
        interaction_id=interaction_id,
    )
