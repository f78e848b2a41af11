"""Who may answer and read: no coding agents; and only operators may set rules."""

import asyncio
import os
from collections.abc import Mapping
from typing import Final

from fastapi import Request

from callboard.board.agent_processes import (
    AgentProcess,
    agent_process,
    is_agents,
    not_by_agents,
)
from callboard.board.approved_messages import is_message_approval
from callboard.board.budgets import is_about_budget
from callboard.errors import Forbidden
from callboard.events.access import allows
from callboard.events.envelope import Json
from callboard.events.json_values import as_object
from callboard.interactions.edited_input import EDITED
from callboard.interactions.kinds import is_from_board
from callboard.server.access.head import Head
from callboard.server.access.identity import Identity
from callboard.server.access.origins import names_this_machine
from callboard.server.access.peers import KEY, Peer, Sender
from callboard.server.service import Service
from callboard.systems.current import system

_FORWARDED: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that a proxy adds."""
_NEEDS_OPERATOR: Final[Mapping[str, str]] = {
    "always": "a rule lets the agent run more than this",
    EDITED: "an edited input runs something that no agent asked for",
}
"""What an answer to a coding agent can have besides yes or no, and why that takes more rights."""


async def check_answerer(
    serving: Service, request: Request, caller: Identity, interaction_id: str, value: Json
) -> None:
    """Refuse an answer that its sender isn't allowed to give."""
    await check_page(serving, caller, interaction_id)
    told = as_object(value)
    # An empty input is an edited one, too.
    more = next((key for key in _NEEDS_OPERATOR if told.get(key) not in (None, False)), None)
    if (
        more is not None
        and not allows(caller.scope, "operate")
        and is_from_board((await serving.board.interaction(interaction_id)).type)
    ):
        raise Forbidden(
            f"{more}: {_NEEDS_OPERATOR[more]}, and needs a token with the scope 'operate'. Answer "
            "without it.",
            needed="operate",
            scope=caller.scope,
            field=f"value.{more}",
        )
    if not allows(caller.scope, "operate"):
        await _check_message(serving, interaction_id, caller)
    await _check_sender(serving, request, interaction_id)


async def _check_message(serving: Service, interaction_id: str, caller: Identity) -> None:
    """Refuse answers that would write to an agent, which takes more rights than answering does."""
    if is_message_approval(await serving.board.interaction(interaction_id)):
        raise Forbidden(
            "A yes sends this message to an agent, which needs a token with the scope 'operate'.",
            needed="operate",
            scope=caller.scope,
            interaction_id=interaction_id,
        )


async def check_budget_question(serving: Service, request: Request, interaction_id: str) -> None:
    """Refuse coding agents that withdraw a question about the budget: it isn't asked again."""
    if is_about_budget(await serving.board.interaction(interaction_id)):
        await check_person(serving, request, "withdraw questions about the budget")


async def check_page(serving: Service, caller: Identity, interaction_id: str) -> None:
    """Refuse a page without a token for a coding agent's question: a yes would run commands."""
    if caller.is_page and is_from_board((await serving.board.interaction(interaction_id)).type):
        raise Forbidden(
            "This question comes from a coding agent. Pages without a token can't read or answer "
            "it. Use the dashboard, or give the page a token.",
            interaction_id=interaction_id,
        )


async def check_person(serving: Service, request: Request, what: str) -> None:
    """Refuse coding agents: `what` completes the sentence "Coding agents can't …"."""
    if not await _is_person(serving, request):
        raise Forbidden(
            f"Coding agents can't {what}, and this request comes from one, or from a process that "
            "could not be found. Do it yourself in a terminal or in the dashboard."
        )


async def may_read_conversations(serving: Service, request: Request, caller: Identity) -> bool:
    """Whether the caller may see what agents said: an operator, not a coding agent."""
    return allows(caller.scope, "operate") and await _is_person(serving, request)


async def check_local(serving: Service, request: Request, what: str) -> None:
    """Refuse everyone except the person at this machine: no proxies, other users or agents."""
    peer: Peer | None = request.scope.get(KEY)
    head = Head(request.scope)
    caller: Identity | None = request.scope.get("callboard.identity")
    is_proxied = caller is not None and caller.is_proxied
    forwarded = is_proxied or any(head.all(name) for name in _FORWARDED)
    is_direct = names_this_machine(head) and not forwarded
    if peer is None or not is_direct or not await peer.is_ours():
        raise Forbidden(
            f"Only the user who runs the server can {what}, on the server's own machine and "
            "without a proxy in between. Use `callboard hooks` there."
        )
    await check_person(serving, request, what)


async def _is_person(serving: Service, request: Request) -> bool:
    peer: Peer | None = request.scope.get(KEY)
    sender = None if peer is None else await peer.sender()
    if sender is None:
        return True
    is_agent, is_found = await _looked_at(serving, sender)
    return not is_agent and (is_found or not await _may_be_agent(serving, sender))


async def _looked_at(serving: Service, sender: Sender) -> tuple[bool, bool]:
    """Whether the sender is a coding agent, and whether it was found at all."""
    agents = await _agents_above(serving, sender)
    # In a thread, because looking up processes is slow. In this order, because a process that ends
    # meanwhile no longer shows that it is an agent's.
    return await asyncio.to_thread(lambda: (is_agents(sender.lineages, agents), sender.is_found))


async def _check_sender(serving: Service, request: Request, interaction_id: str) -> None:
    peer: Peer | None = request.scope.get(KEY)
    sender = None if peer is None else await peer.sender()
    if sender is None:
        return
    is_agent, is_found = await _looked_at(serving, sender)
    if is_agent:
        raise not_by_agents(interaction_id)
    if not is_found and await _may_be_agent(serving, sender):
        raise Forbidden(
            "The process that sent this answer could not be found. Keep the connection open until "
            "the answer is confirmed, or answer in the dashboard or in `callboard board`.",
            interaction_id=interaction_id,
        )


async def _agents_above(serving: Service, sender: Sender) -> list[AgentProcess]:
    """The agents on the board whose process id is the sender's or one of its ancestors'."""
    pids = {process.pid for line in sender.lineages for process in line}
    plates = await serving.plates.of_processes(pids) if pids else []
    known = [agent_process(plate.pid, plate.proc_start, plate.status) for plate in plates]
    return [one for one in known if one is not None]


async def _may_be_agent(serving: Service, sender: Sender) -> bool:
    """Whether an unidentified sender may run as the same user as an agent."""
    if sender.user in (None, os.geteuid()):
        return True
    # Agents run as our user. A server run by root also sees agents of other users.
    pids = [plate.pid for plate in await serving.plates.living() if plate.pid is not None]
    users = await asyncio.to_thread(lambda: {system.user_of(pid) for pid in pids})
    return sender.user in users
