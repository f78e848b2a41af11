"""Routes whose bodies are read strictly: what JSON does not have, such as NaN, is not JSON."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match

from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import is_object

_LARGE: Final = 262_144
"""Bytes that take milliseconds to read."""
_MOST: Final = 1000
"""Fields that the body of a request may have."""


class _StrictRequest(Request):
    async def json(self) -> Json:
        """The body, read by orjson, whose error is the one that FastAPI knows."""
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = _few_fields(orjson.loads(body))
            if len(body) > _LARGE:
                await asyncio.sleep(0)  # It took its time: others get their turn.
        return self._json


def _few_fields(body: Json) -> Json:
    """The body, unless it has so many fields that to tell each of them wrong takes long."""
    if is_object(body) and len(body) > _MOST:
        raise ValidationError(
            f"The body has more than {_MOST} fields; no request has so many.", field="body"
        )
    return body


class _StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[object, None, Response]]:
        """The handler, given a request that reads strictly."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strictly


def router(tag: str, prefix: str = "") -> APIRouter:
    """A router for the routes about one thing."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=_StrictRoute)


def methods_at(request: Request) -> list[str]:
    """What can be done at the address of a request, whatever it wants to do."""
    routes = [
        route
        for route in request.app.state.routes
        if route.matches(request.scope)[0] is not Match.NONE
    ]
    # `/plates/stopped` fits `/plates/{plate_id}` too, but no one means a plate of that name.
    exact = [route for route in routes if route.path == request.url.path]
    found: set[str] = set()
    for route in exact or routes:
        found |= getattr(route, "methods", None) or set()
    return sorted(found)
