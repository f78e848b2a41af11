"""What every route says of itself in the OpenAPI document beside its own answer."""

from typing import Any, Final

from callboard.server.schemas import Failure

_MEANINGS: Final = {
    400: "Something that was sent does not fit; `field` says what.",
    401: "No token, or a wrong one.",
    403: "The token's scope does not reach, or the host or origin is foreign.",
    404: "There is none with this id.",
    409: "Something else happened first.",
    413: "The body is too large.",
    429: "Too many wrong tokens.",
    503: "The server is overloaded, or the database could not do it; `Retry-After` says when to "
    "try again.",
}


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route can answer with; some can come from anywhere."""
    possible = sorted({400, 401, 403, 413, 429, 503, *statuses})
    return {s: {"model": Failure, "description": _MEANINGS[s]} for s in possible}


def gives(model: Any, status: int = 200, description: str = "Done.") -> dict[int | str, Any]:
    """The answer of a route that goes well."""
    return {status: {"model": model, "description": description}}
