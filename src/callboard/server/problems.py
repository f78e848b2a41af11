"""JSON responses, and errors as responses: one format, a matching status, no stack trace."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from callboard import errors
from callboard.events.envelope import Json
from callboard.events.shapes import Shape
from callboard.server.routing import methods_at

_log = logging.getLogger(__name__)

# The first match counts, so subclasses come before their base classes.
STATUSES: Final[tuple[tuple[type[errors.CallboardError], int], ...]] = (
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.TooLarge, 413),
    (errors.TooManyFailures, 429),
    (errors.ConflictError, 409),
    (errors.WorktreeUnreadable, 409),
    (errors.HostFailed, 502),
    (errors.StoreError, 503),
    (errors.HostUnreachable, 503),
    (errors.HostTimedOut, 504),
    (errors.Overloaded, 503),
    (errors.ValidationError, 400),
    (errors.DefinitionError, 400),
    (errors.StateError, 400),
    (errors.AgentOutputInvalid, 400),
    (errors.PhaseError, 400),
)

_UNAVAILABLE: Final = HTTPStatus.SERVICE_UNAVAILABLE
_SOON: Final = 1
"""Seconds after which a request is worth repeating, if the error doesn't say."""

_HTTP_CODES: Final = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "TOO_LARGE"}


def reply(
    content: Shape | Mapping[str, Json],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A JSON response."""
    data = orjson.dumps(content.to_wire() if isinstance(content, Shape) else content)
    return Response(data, status, dict(headers or {}), media_type="application/json")


def status_of(error: errors.CallboardError) -> int:
    """The HTTP status for an error."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def of_error(error: errors.CallboardError) -> Response:
    """The response for one of our own errors."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, errors.Unauthenticated) else {}
    status = status_of(error)
    after = error.context.get("retry_after", _SOON if status == _UNAVAILABLE else None)
    if after is not None:
        headers["Retry-After"] = str(after)
    return reply({"error": error.as_payload()}, status, headers)


def store_away(error: errors.StoreError) -> errors.StoreError:
    """The error for callers who may be strangers: the exact one names the database."""
    said = "The database can't be used at the moment; the server's log says why."
    return type(error)(said, retry_after=_SOON)


def install(app: FastAPI) -> None:
    """Use the common error format for every error."""
    app.add_exception_handler(errors.CallboardError, callboard_problem)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def callboard_problem(request: Request, error: Exception) -> Response:
    """The response to a request that raised one of our own errors."""
    assert isinstance(error, errors.CallboardError)
    if status_of(error) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("%s %s: %s", request.method, request.url.path, error.message)
    return of_error(error)


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where, *path = (str(part) for part in first["loc"])
    field = ".".join(path) or where
    message = f"{field}: {first['msg']}."
    if first["type"] == "json_invalid":
        field, message = "body", f"The body is not valid JSON: {first['ctx']['error']}."
    return of_error(errors.ValidationError(message, field=field))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, "ERROR")
    message = {
        404: f"There is nothing at {request.url.path}. See /docs.",
        405: f"{request.url.path} does not take {request.method}. See /docs.",
    }.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(methods_at(request))
    return reply({"error": {"code": code, "message": message}}, error.status_code, headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    return unexpected(request.method, request.url.path, error)


def unexpected(method: str, path: str, error: Exception) -> Response:
    """The response to a request that failed in a way that should not happen; logs the cause."""
    _log.exception("%s %s failed", method, path, exc_info=error)
    message = "Unexpected server error; see the server's log."
    # The connection is closed after this, so the client must not reuse it.
    told = {"code": "INTERNAL_ERROR", "message": message}
    return reply({"error": told}, 500, {"Connection": "close"})
