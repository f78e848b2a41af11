"""Routes with strict JSON bodies, which are read and documented when they are first needed."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import is_object

_LARGE: Final = 262_144
"""Bytes that take milliseconds to parse."""
_MOST: Final = 1000
"""Maximum number of fields in a request body."""


Responses = dict[int | str, dict[str, object]]
"""A route's possible responses, as FastAPI takes them, but with a shape as `model`."""


class _StrictRequest(Request):
    # NaN and the like, which JSON doesn't have, are refused.

    async def json(self) -> Json:
        """The body, parsed by orjson, with the error that FastAPI expects."""
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = _few_fields(orjson.loads(body))
            if len(body) > _LARGE:
                await asyncio.sleep(0)  # Parsing took a while; let others run.
        return self._json


def _few_fields(body: Json) -> Json:
    """The body, unless reporting an error for each of its fields would take long."""
    if is_object(body) and len(body) > _MOST:
        raise ValidationError(
            f"The body has more than {_MOST} fields, which is the limit.", field="body"
        )
    return body


class _ReadRoute(APIRoute):
    """A route whose parameters FastAPI has read. It parses strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        """The handler, with strict parsing."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


class StrictRoute(APIRoute):
    """A route that parses strictly. Until its first request, it is only a path and its methods.

    Reading the parameters of every route, and making models of their responses, would take longer
    than the rest of a server's start.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., object],
        *,
        responses: Responses | None = None,
        **options: Any,
    ) -> None:
        # Not APIRoute's, which reads the parameters.
        Route.__init__(self, path, endpoint, name=options["name"])
        self.methods = set(options["methods"])
        self.app = self._read
        self._responses = responses or {}
        self._again = partial(_ReadRoute, path, endpoint, **options)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.app = self._again().app
        await self.app(scope, receive, send)

    def documented(self, model_of: Callable[[type], type]) -> APIRoute:
        """The same route with models of its responses, for the OpenAPI document."""
        return self._again(
            responses={
                status: _with_model(told, model_of) for status, told in self._responses.items()
            }
        )


def _with_model(told: Mapping[str, object], model_of: Callable[[type], type]) -> dict[str, object]:
    shape = told.get("model")
    return {**told, "model": model_of(shape)} if isinstance(shape, type) else dict(told)


def router(tag: str, prefix: str = "") -> APIRouter:
    """A router for the routes of one subject."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=StrictRoute)


def methods_at(request: Request) -> list[str]:
    """The methods allowed at a request's path."""
    routes = [
        route
        for route in request.app.state.routes
        if route.matches(request.scope)[0] is not Match.NONE
    ]
    # `/plates/stopped` also matches `/plates/{plate_id}`, but isn't a plate.
    exact = [route for route in routes if route.path == request.url.path]
    found: set[str] = set()
    for route in exact or routes:
        found |= getattr(route, "methods", None) or set()
    return sorted(found)
