"""What the routes share: access to the board, path parameters, and documentation."""

from typing import Annotated, Final

from fastapi import Depends, Path, Query, Request

from callboard.board.replies import Failure
from callboard.engine.statistics import MOST_OFFSET
from callboard.events.authors import Author
from callboard.events.shapes import Shape
from callboard.server.access.identity import Identity
from callboard.server.routing import Responses
from callboard.server.service import Service

_MEANINGS: Final = {
    400: "The request is invalid; `field` names the part.",
    401: "The token is missing or invalid.",
    403: "The token's scope is not sufficient, or the host or origin is not allowed.",
    404: "Not found.",
    409: "The state has changed in the meantime.",
    413: "The body is too large.",
    429: "Too many wrong tokens.",
    502: "The machine could not do it.",
    504: "The machine didn't answer in time, and may have done it or not.",
    503: "The server is overloaded, or the database operation failed; `Retry-After` says when "
    "to try again.",
}


def failures(*statuses: int) -> Responses:
    """A route's possible errors, including those that any route can return."""
    possible = sorted({400, 401, 403, 413, 429, 503, *statuses})
    return {s: {"model": Failure, "description": _MEANINGS[s]} for s in possible}


def gives(shape: type[Shape], status: int = 200, description: str = "Done.") -> Responses:
    """A route's success response."""
    return {status: {"model": shape, "description": description}}


# Async, so that it isn't called in a thread.
async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
SessionPath = Annotated[str, Path(description="A session's id.", min_length=1)]
UtcOffset = Annotated[
    int,
    Query(
        alias="utcOffset",
        ge=-MOST_OFFSET,
        le=MOST_OFFSET,
        description="The time zone for days, in minutes east of UTC.",
    ),
]
InteractionPath = Annotated[str, Path(description="A question's id.", min_length=1)]


def who(identity: Identity, by: str | None) -> Author:
    """The author to record: the token's holder, with the name that the caller gave."""
    return Author(
        identity.name,
        by or None,
        person=identity.person,
        groups=identity.groups,
        overrides=identity.scope == "admin",
    )
