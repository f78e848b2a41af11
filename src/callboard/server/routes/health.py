"""Whether the server lives: for whoever restarts it when it does not. Needs no token."""

import logging
from typing import Literal

from fastapi import Response

from callboard.errors import StoreError
from callboard.events.rows import Query
from callboard.server import routing
from callboard.server.replies import reply
from callboard.server.routes.common import Serving
from callboard.server.routes.documented import gives
from callboard.server.schemas import Failure, Wire

router = routing.router("operation")

_log = logging.getLogger(__name__)
_UNREADABLE = {503: {"model": Failure, "description": "The database cannot be read."}}


class HealthOut(Wire):
    """It lives; nothing else is said, because anyone may ask."""

    status: Literal["ok"]


@router.get("/health", responses=gives(HealthOut, description="It lives.") | _UNREADABLE)
async def show_health(serving: Serving) -> Response:
    """Say that the server lives and can read its database."""
    try:
        await serving.board.log.rows(Query("sessions", limit=1))
    except StoreError as error:
        # What exactly is wrong names a path, which only the log may know.
        _log.error("health: %s", error.message)
        message = "The database cannot be read; the server's log says why."
        raise StoreError(message) from error
    return reply({"status": "ok"})
