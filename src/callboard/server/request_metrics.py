"""Measures every request, and reports it to metrics and logs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.clock import Clock

if TYPE_CHECKING:
    from callboard.server.access.identity import Identity

NO_ROUTE: Final = "none"
"""The route of requests that were refused before routing, or that match no route."""

NO_STATUS: Final = 0
"""The status of a request whose sender disconnected before the response."""

_SEEN: Final = "callboard.seen"
OUTERMOST: Final = "callboard.send"
"""The scope key of the `send` that bypasses all middleware."""


class ServedRequest(NamedTuple):
    """A finished request: what was requested, by whom, and how it went."""

    method: str
    path: str
    """As sent, without the query, which may contain a code."""
    route: str
    """The path template, of which there are few."""
    status: int
    began: float
    """Seconds until the response started. For a stream, the only meaningful duration."""
    took: float
    """Seconds until the response ended."""
    who: str | None


class _Seen:
    """The innermost scope that the request reached."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Routed:
    """Wraps the routes, to make visible outside what they and the guard wrote into the scope.

    The guard gives the routes a scope of their own, so the caller and the route would otherwise be
    known only inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Expose the scope, and continue."""
        seen: _Seen | None = scope.get(_SEEN)
        if seen is not None:
            seen.scope = scope
        await self._app(scope, receive, send)


class Measured:
    """Wraps everything, so that refused requests are measured too."""

    def __init__(
        self, app: ASGIApp, clock: Clock, tell: Iterable[Callable[[ServedRequest], None]]
    ) -> None:
        self._app = app
        self._clock = clock
        self._tell = tuple(tell)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request, then report it, however it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = scope[_SEEN] = _Seen(scope)
        scope[OUTERMOST] = send
        start = self._clock.monotonic()
        status, began = NO_STATUS, start

        async def sent(message: Message) -> None:
            nonlocal status, began
            if message["type"] == "http.response.start":
                status, began = message["status"], self._clock.monotonic()
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            end = self._clock.monotonic()
            first = (end if status == NO_STATUS else began) - start
            served = _served(seen.scope, status, first, end - start)
            for tell in self._tell:
                tell(served)


def _served(scope: Scope, status: int, began: float, took: float) -> ServedRequest:
    identity: Identity | None = scope.get("callboard.identity")
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return ServedRequest(
        method=scope["method"],
        path=raw.partition(b"?")[0].decode("ascii", "backslashreplace"),
        route=_route(scope),
        status=status,
        began=began,
        took=took,
        who=identity.name if identity is not None else None,
    )


def _route(scope: Scope) -> str:
    """The path template of the request's route, never the path itself."""
    template = getattr(scope.get("route"), "path", None)
    if isinstance(template, str):
        return template
    # Files in a folder have no template of their own, only the folder's.
    return scope["root_path"] if "app_root_path" in scope else NO_ROUTE
