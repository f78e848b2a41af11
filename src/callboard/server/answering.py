"""Who may answer what a coding agent asks: not the agent itself, and rules only who may operate."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any, cast

from fastapi import Request

from callboard.agents.claude_code.leftovers import works_for_a_run
from callboard.board.processes import user_of
from callboard.errors import Forbidden, PlateNotFound
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction
from callboard.server.access.identity import Identity
from callboard.server.access.peers import KEY, Peer, Sender
from callboard.server.access.scopes import allows
from callboard.server.service import Service


async def check_answerer(
    serving: Service, request: Request, caller: Identity, interaction_id: str, value: Any
) -> None:
    """Refuse an answer that its sender may not give; questions of workflows are anybody's."""
    asked = await serving.board.interaction(interaction_id)
    if not is_from_board(asked.type):
        return
    if _makes_rule(value) and not allows(caller.scope, "operate"):
        raise Forbidden(
            "always: a rule lets the agent run more than this, and needs a token with the scope "
            "'operate'. Answer without it.",
            needed="operate",
            scope=caller.scope,
        )
    await _check_sender(serving, request, asked)


def _makes_rule(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(cast("Mapping[str, Any]", value).get("always"))


async def _check_sender(serving: Service, request: Request, asked: Interaction) -> None:
    peer: Peer | None = request.scope.get(KEY)
    sender = None if peer is None else await peer.sender()
    if sender is None:
        return
    agent = None if asked.awaited else await _process_of(serving, asked)
    # In threads: reading about processes takes milliseconds.
    if await asyncio.to_thread(_is_agent, sender, asked, agent):
        raise Forbidden(
            "This answer comes from an agent that asks. A person has to give it: in the "
            "dashboard, in `callboard board`, or in another terminal.",
            interaction_id=asked.id,
        )
    if await asyncio.to_thread(_may_be_agent, sender, agent):
        raise Forbidden(
            "The process that sent this answer could not be found. Keep the connection open until "
            "the answer is confirmed, or answer in the dashboard or in `callboard board`.",
            interaction_id=asked.id,
        )


def _is_agent(sender: Sender, asked: Interaction, agent: int | None) -> bool:
    """Whether the answer comes from the agent that asked, or from a process it started."""
    if asked.awaited:
        return any(works_for_a_run(line[0].pid) for line in sender.lineages)
    return any(process.pid == agent for line in sender.lineages for process in line)


def _may_be_agent(sender: Sender, agent: int | None) -> bool:
    """Whether the sender is unknown, and may run as the same user as the agent."""
    if sender.is_found:
        return False
    # Agents run as our user. A server of root also sees agents of others.
    agents_user = None if agent is None else user_of(agent)
    return sender.user in (None, os.geteuid(), agents_user)


async def _process_of(serving: Service, asked: Interaction) -> int | None:
    """The process of the coding agent that asks by a hook."""
    try:
        return (await serving.plates.get(asked.stream)).pid
    except PlateNotFound:
        return None
