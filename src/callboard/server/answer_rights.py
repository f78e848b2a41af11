"""Who may answer: not a coding agent, and rules only callers who may operate."""

import asyncio
import os

from fastapi import Request

from callboard.board.agent_processes import (
    AgentProcess,
    agent_process,
    is_agents,
    not_by_agents,
)
from callboard.errors import Forbidden
from callboard.events.access import allows
from callboard.events.envelope import Json
from callboard.events.json_values import as_object
from callboard.interactions.kinds import is_from_board
from callboard.server.access.identity import Identity
from callboard.server.access.peers import KEY, Peer, Sender
from callboard.server.service import Service
from callboard.systems.current import system


async def check_answerer(
    serving: Service, request: Request, caller: Identity, interaction_id: str, value: Json
) -> None:
    """Refuse an answer that its sender may not give."""
    await check_page(serving, caller, interaction_id)
    if (
        as_object(value).get("always")
        and not allows(caller.scope, "operate")
        and is_from_board((await serving.board.interaction(interaction_id)).type)
    ):
        raise Forbidden(
            "always: a rule lets the agent run more than this, and needs a token with the scope "
            "'operate'. Answer without it.",
            needed="operate",
            scope=caller.scope,
        )
    await _check_sender(serving, request, interaction_id)


async def check_page(serving: Service, caller: Identity, interaction_id: str) -> None:
    """Refuse a page without a token where a coding agent asks: it would run what it is allowed."""
    if caller.is_page and is_from_board((await serving.board.interaction(interaction_id)).type):
        raise Forbidden(
            "A coding agent asks this, which pages without a token may neither read nor answer. "
            "Use the dashboard, or give the page a token.",
            interaction_id=interaction_id,
        )


async def _check_sender(serving: Service, request: Request, interaction_id: str) -> None:
    peer: Peer | None = request.scope.get(KEY)
    sender = None if peer is None else await peer.sender()
    if sender is None:
        return
    agents = await _agents_above(serving, sender)
    # In a thread, because reading about processes takes a while; in this order, because a process
    # that ends while it is looked at bears no mark.
    is_agent, is_found = await asyncio.to_thread(
        lambda: (is_agents(sender.lineages, agents), sender.is_found)
    )
    if is_agent:
        raise not_by_agents(interaction_id)
    if not is_found and await _may_be_agent(serving, sender):
        raise Forbidden(
            "The process that sent this answer could not be found. Keep the connection open until "
            "the answer is confirmed, or answer in the dashboard or in `callboard board`.",
            interaction_id=interaction_id,
        )


async def _agents_above(serving: Service, sender: Sender) -> list[AgentProcess]:
    """The agents on the board that have the number of the sender, or of one of its ancestors."""
    pids = {process.pid for line in sender.lineages for process in line}
    plates = await serving.plates.of_processes(pids) if pids else []
    known = [agent_process(plate.pid, plate.proc_start, plate.status) for plate in plates]
    return [one for one in known if one is not None]


async def _may_be_agent(serving: Service, sender: Sender) -> bool:
    """Whether a sender that was not found may run as the same user as an agent."""
    if sender.user in (None, os.geteuid()):
        return True
    # Agents run as our user. A server of root also sees agents of others.
    pids = [plate.pid for plate in await serving.plates.living() if plate.pid is not None]
    users = await asyncio.to_thread(lambda: {system.user_of(pid) for pid in pids})
    return sender.user in users
