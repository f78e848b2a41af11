"""The short way to the one route that is asked for hundreds of times a second."""

from typing import Final

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.errors import CallboardError
from callboard.server.access.hook_bodies import PREFIX
from callboard.server.problems import callboard_problem
from callboard.server.routes import hooks

_ROUTE: Final = hooks.router.routes[0]


class HookShortcut:
    """Answers hooks before a route is looked for; everything else goes on its way.

    To find the route and to read its parameters takes FastAPI as long as the log takes to write.
    The route stands there all the same: for the OpenAPI document, and for what is no POST.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a hook, or go on."""
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


def _agent(scope: Scope) -> str | None:
    """Whose hook it is; None for any other request."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path: str = scope["path"]
    agent = path.removeprefix(PREFIX)
    return agent if len(agent) < len(path) and agent and "/" not in agent else None
