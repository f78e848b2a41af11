"""Who may answer what a coding agent asks: not the agent itself, and rules only who may operate."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from fastapi import Request

from callboard.agents.claude_code.leftovers import works_for_a_run
from callboard.errors import Forbidden, PlateNotFound
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction
from callboard.server.access.identity import Identity
from callboard.server.access.peers import comes_from, sender_of
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
    server = request.scope.get("server")
    if server is None or request.client is None:
        return
    # It looks through all processes: some milliseconds that the other readers need not wait.
    if asked.awaited:
        sender = await asyncio.to_thread(sender_of, request.client, server[1])
        by_itself = sender is not None and works_for_a_run(sender)
    else:
        pid = await _process_of(serving, asked)
        by_itself = pid is not None and await asyncio.to_thread(
            comes_from, request.client, server[1], pid
        )
    if by_itself:
        raise Forbidden(
            "This answer comes from an agent that asks. A person has to give it: in the "
            "dashboard, in `callboard board`, or in another terminal.",
            interaction_id=asked.id,
        )


async def _process_of(serving: Service, asked: Interaction) -> int | None:
    """The process of the coding agent that asks by a hook."""
    try:
        return (await serving.plates.get(asked.stream)).pid
    except PlateNotFound:
        return None
