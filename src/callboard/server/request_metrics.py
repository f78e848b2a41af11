"""Measures every request, and passes the measurement on to metrics and logs."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.clock import Clock

if TYPE_CHECKING:
    from callboard.server.access.identity import Identity

NO_ROUTE: Final = "none"
"""The route of what was refused before one was found, or of what is nowhere."""

NO_STATUS: Final = 0
"""The status of a request whose sender left before it was answered."""

_SEEN: Final = "callboard.seen"
OUTERMOST: Final = "callboard.send"
"""Where the way out lies past everything that is put around the routes."""


class ServedRequest(NamedTuple):
    """A request that is over: what was asked for, by whom, and how it went."""

    method: str
    path: str
    """As it was sent, without the query, in which there may be a code."""
    route: str
    """The template of the address, of which there are few."""
    status: int
    began: float
    """Seconds until the answer started: for a stream, all that can be called slow or quick."""
    took: float
    """Seconds until the answer ended."""
    who: str | None


class _Seen:
    """The scope in which the answer was made: as far in as the request came."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Routed:
    """Put around the routes: what they and the guard wrote into the scope can be seen outside.

    The guard gives the routes a scope of their own, so who asks and which route it is would
    otherwise be known only further in.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the scope, and continue."""
        seen: _Seen | None = scope.get(_SEEN)
        if seen is not None:
            seen.scope = scope
        await self._app(scope, receive, send)


class Measured:
    """Put around everything, so that what is refused is seen as well."""

    def __init__(
        self, app: ASGIApp, clock: Clock, tell: Iterable[Callable[[ServedRequest], None]]
    ) -> None:
        self._app = app
        self._clock = clock
        self._tell = tuple(tell)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request be answered, then report it, however it ended."""
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
    """The template under which the request was answered: never the address itself."""
    template = getattr(scope.get("route"), "path", None)
    if isinstance(template, str):
        return template
    # Files of a folder have no template of their own, only that of the folder.
    return scope["root_path"] if "app_root_path" in scope else NO_ROUTE
