"""A route's required scope, declared in its signature and in the OpenAPI document."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from callboard.errors import Forbidden, Unauthenticated
from callboard.events.access import Scope, allows
from callboard.server.access.identity import Identity

COOKIE = "callboard"

# These only add documentation to OpenAPI: the guard has checked the token before any route is
# looked up, so that errors don't reveal which routes exist.
_bearer = HTTPBearer(auto_error=False, description="A token, as `callboard token create` prints.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="Set by the one-time link.")


def needs(scope: Scope) -> Callable[..., Awaitable[Identity]]:
    """A dependency that returns the caller's identity, or refuses the caller."""

    # Async, though nothing is awaited: FastAPI would run it in a thread otherwise, on each request.
    async def identity(
        request: Request,
        _bearer: Annotated[object, Security(_bearer)] = None,
        _cookie: Annotated[object, Security(_cookie)] = None,
    ) -> Identity:
        return identified(request, scope)

    return identity


def identified(request: Request, scope: Scope) -> Identity:
    """The caller's identity, if it has this scope; otherwise the caller is refused."""
    known: Identity | None = request.scope.get("callboard.identity")
    if known is None:
        raise Unauthenticated
    if not allows(known.scope, scope):
        raise Forbidden(
            f"This needs a token with the scope {scope!r}; yours has {known.scope!r}. "
            f"Create one: callboard token create --name NAME --scope {scope}",
            needed=scope,
            scope=known.scope,
        )
    return known


Reads = Annotated[Identity, Depends(needs("read"))]
Answers = Annotated[Identity, Depends(needs("answer"))]
Operates = Annotated[Identity, Depends(needs("operate"))]
Reports = Annotated[Identity, Depends(needs("hook"))]
Administers = Annotated[Identity, Depends(needs("admin"))]
