"""Whether a person runs this command, or a coding agent."""

import os
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from callboard.board.agent_processes import AgentProcess, agent_process, is_agents
from callboard.board.protocol import Board
from callboard.cli.targets import Target
from callboard.errors import Forbidden
from callboard.systems.processes import ancestors
from callboard.vendors.claude.launching import MARK

T = TypeVar("T")

READS: Final = "read conversations"
REVIEWS: Final = "read what agents changed"
STARTS: Final = "start agents"
STOPS: Final = "stop agents"
ATTACHES: Final = "attach to agents"
BUDGETS: Final = "change the budget"


def ask_as_person(place: Target, what: str, work: Callable[[Board], Awaitable[T]]) -> T:
    """Do something on a board unless a coding agent runs this command: see `check_person`."""

    async def checked(board: Board) -> T:
        await check_person(board, what)
        return await work(board)

    return place.ask(checked)


async def check_person(board: Board, what: str) -> None:
    """Refuse coding agents: `what` completes the sentence "Coding agents can't …"."""
    if await is_run_by_agent(board):
        raise Forbidden(
            f"Coding agents can't {what}, and this command runs in one. Run it yourself in another "
            "terminal, or use the dashboard."
        )


async def is_run_by_agent(board: Board) -> bool:
    """Whether an agent on the board started this process, or one that Callboard started."""
    return MARK in os.environ or is_agents([ancestors(os.getpid())], await _agents(board))


async def _agents(board: Board) -> list[AgentProcess]:
    """The processes of the agents on the board.

    On another machine's server, the same id is a different process, which its start shows.
    """
    plates = await board.plates.all(dismissed=True)
    known = [agent_process(one.pid, one.proc_start, one.status) for one in plates]
    return [one for one in known if one is not None]
