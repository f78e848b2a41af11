"""What the routes share: the board they serve, ids in addresses, how they document themselves."""

from typing import Annotated, Any, Final

from fastapi import Depends, Path, Request

from callboard.events.authors import Author
from callboard.events.shapes import Shape
from callboard.server.access.identity import Identity
from callboard.server.openapi import Failure, model_of
from callboard.server.service import Service

Responses = dict[int | str, dict[str, Any]]
"""What a route can answer with, as FastAPI takes it."""

_MEANINGS: Final = {
    400: "The request is invalid; `field` names the part.",
    401: "The token is missing or invalid.",
    403: "The token's scope is not sufficient, or the host or origin is not allowed.",
    404: "Not found.",
    409: "The state changed first.",
    413: "The body is too large.",
    429: "Too many wrong tokens.",
    503: "The server is overloaded, or the database could not do it; `Retry-After` says when to "
    "try again.",
}


def failures(*statuses: int) -> Responses:
    """The errors that a route can answer with; some can come from anywhere."""
    possible = sorted({400, 401, 403, 413, 429, 503, *statuses})
    return {s: {"model": Failure, "description": _MEANINGS[s]} for s in possible}


def gives(shape: type[Shape], status: int = 200, description: str = "Done.") -> Responses:
    """The answer of a route that goes well."""
    return {status: {"model": model_of(shape), "description": description}}


# Async, so that it is not called in another thread.
async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
SessionPath = Annotated[str, Path(description="A session's id.", min_length=1)]
InteractionPath = Annotated[str, Path(description="A question's id.", min_length=1)]


def who(identity: Identity, by: str | None) -> Author:
    """Who is recorded: the holder of the token, and beside it the name that the caller gave."""
    return Author(
        identity.name,
        by or None,
        person=identity.person,
        groups=identity.groups,
        overrides=identity.scope == "admin",
    )
