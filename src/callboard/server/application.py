"""The ASGI application: routes, errors, a shortcut for hooks, and what happens in an outage."""

import logging
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI, Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.errors import CallboardError
from callboard.log.protocol import EventLog
from callboard.server import problems
from callboard.server.access.hook_bodies import PREFIX
from callboard.server.problems import callboard_problem, of_error, store_away
from callboard.server.routes import (
    changes,
    control,
    conversations,
    hooks,
    hosts,
    interactions,
    limits,
    login,
    messages,
    plates,
    relays,
    sessions,
    settings,
    starting,
    statistics,
    status,
    streams,
    tokens,
    ui,
    usage,
)
from callboard.server.service import Service

_log = logging.getLogger(__name__)

_WITHOUT_LOG: Final = frozenset({"/", "/app", "/docs", "/openapi.json"})
_ROUTE: Final = hooks.router.routes[0]
_ABOUT = """
Run workflows, answer their questions, watch them live.

Everything needs a token: `Authorization: Bearer TOKEN`. Errors come as
`{"error": {"code", "message", …}}`.
"""

ROUTERS = (
    hooks.router,
    statistics.router,
    sessions.workflows,
    sessions.router,
    control.router,
    streams.router,
    interactions.router,
    plates.router,
    messages.router,
    usage.router,
    conversations.router,
    changes.router,
    starting.router,
    hosts.router,
    relays.router,
    limits.router,
    login.router,
    tokens.router,
    settings.router,
    status.router,
    ui.router,
)


class HookShortcut:
    """Handles hooks before routing; passes everything else on.

    Routing and parameter parsing in FastAPI take as long as the write to the log. The route exists
    anyway: for the OpenAPI document, and for methods other than POST.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a hook, or pass the request on."""
        agent = _agent(scope)
        if agent is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = _ROUTE  # As the router would: requests are counted by it.
        request = Request(scope, receive)
        try:
            response = await hooks.hook(request, agent)
        except CallboardError as error:
            response = await callboard_problem(request, error)
        await response(scope, receive, send)


class LogRequired:
    """Responds with 503 at once while the log can't be reached: otherwise, each request would wait.

    Pages and documents don't need the log, and hooks go to the spool.
    """

    def __init__(self, app: ASGIApp, log: EventLog) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond."""
        away = self._log.outage() if _needs_log(scope) else None
        if away is None:
            await self._app(scope, receive, send)
            return
        _log.error("%s %s: %s", scope["method"], scope["path"], away.message)
        await of_error(store_away(away))(scope, receive, send)


def _needs_log(scope: Scope) -> bool:
    path: str = scope["path"] if scope["type"] == "http" else "/"
    return path not in _WITHOUT_LOG and not path.startswith(("/app/", PREFIX))


def _agent(scope: Scope) -> str | None:
    """The agent of a hook; None for any other request."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path: str = scope["path"]
    agent = path.removeprefix(PREFIX)
    return agent if len(agent) < len(path) and agent and "/" not in agent else None


def build(service: Service) -> FastAPI:
    """Build the application. `callboard.server.wiring` adds the guard."""
    app = FastAPI(
        title="Callboard",
        version=version("callboard"),
        description=_ABOUT,
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        # Ours is in `tracing`; FastAPI's would look for a provider on every request.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.service = service
    problems.install(app)
    app.add_middleware(HookShortcut)
    app.add_middleware(LogRequired, log=service.board.log)
    app.state.routes = routes = [route for router in ROUTERS for route in router.routes]
    # Not `include_router`, which makes all of them again for the first request: that takes longer
    # than to make them once, and each request then goes through one more layer.
    app.router.routes += routes
    app.openapi = cache(lambda: _document(app, routes))
    return app


def _document(app: FastAPI, routes: Iterable[BaseRoute]) -> dict[str, object]:
    # Few ever read it, and its models take long to import.
    from callboard.server.openapi import document

    return document(app, routes)
