"""The server's own status: health, metrics, and who drives sessions."""

import logging
from typing import Annotated

from fastapi import Query as Parameter
from fastapi import Response

from callboard.board.replies import Failure, Health
from callboard.engine.workers import WorkerOverview
from callboard.errors import StoreError
from callboard.events.rows import Query
from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.metrics import CONTENT_TYPE
from callboard.server.problems import reply, store_away
from callboard.server.routes.common import Serving, failures, gives

router = routing.router("operation")
_log = logging.getLogger(__name__)
_UNREADABLE = {503: {"model": Failure, "description": "The database cannot be read."}}
_TEXT = {
    200: {
        "description": "The text format of Prometheus.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}


@router.get("/health", responses=gives(Health, description="The server is running.") | _UNREADABLE)
async def show_health(serving: Serving) -> Response:
    """Check that the server is running and can read its database."""
    try:
        await serving.board.log.rows(Query("sessions", limit=1))
    except StoreError as error:
        _log.error("health: %s", error.message)
        raise store_away(error) from error
    return reply(Health())


@router.get("/metrics", responses={**_TEXT, **failures()}, response_class=Response)
async def show_metrics(serving: Serving, _: Reads) -> Response:
    """Get metrics: sessions by status, open questions, requests and their duration."""
    return Response(await serving.metrics.text(), media_type=CONTENT_TYPE)


@router.get("/workers", responses=gives(WorkerOverview) | failures(404))
async def show_workers(
    serving: Serving,
    _: Reads,
    session_id: Annotated[
        str | None,
        Parameter(alias="sessionId", description="Only what concerns this session.", min_length=1),
    ] = None,
) -> Response:
    """List the workers and what they drive, and the sessions that none of them can drive."""
    return reply(await serving.board.workers(session_id))
