"""Limits: how many agents of a kind may run at once."""

from typing import Annotated

from fastapi import Path, Query, Response

from callboard.events.limits import AgentLimit, LimitList
from callboard.server import routing
from callboard.server.access.requirement import Operates, Reads
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import LimitRequest

router = routing.router("limits", "/limits")

LimitPath = Annotated[str, Path(description="A limit's name.", min_length=1)]
OfSession = Annotated[
    str | None, Query(alias="sessionId", description="List only this session's agents.")
]


@router.get("", responses=gives(LimitList) | failures())
async def list_limits(serving: Serving, _: Reads, session_id: OfSession = None) -> Response:
    """List the limits that have a number or are in use, and their agents."""
    return reply(LimitList(await serving.board.limits.list(session_id)))


@router.put("/{name:path}", responses=gives(AgentLimit) | failures())
async def set_limit(
    serving: Serving, _: Operates, name: LimitPath, given: LimitRequest
) -> Response:
    """Let at most so many agents run at once; with 0, none start. Running agents finish."""
    return reply(await serving.board.limits.set(name, given.number))


@router.delete("/{name:path}", responses=gives(AgentLimit) | failures(404))
async def remove_limit(serving: Serving, _: Operates, name: LimitPath) -> Response:
    """Remove a limit's number. From now on, it is not limited."""
    return reply(await serving.board.limits.remove(name))
