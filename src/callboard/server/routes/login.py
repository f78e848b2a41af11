"""The dashboard's door: a code for one use, and the cookie that it becomes."""

from typing import Annotated

from fastapi import Query, Request, Response

from callboard.errors import Forbidden
from callboard.events.moments import from_ms, iso
from callboard.server import routing
from callboard.server.access.cookies import LIVES
from callboard.server.access.requirement import COOKIE, Administers, Reads
from callboard.server.replies import reply
from callboard.server.routes.common import Serving
from callboard.server.routes.documented import failures, gives
from callboard.server.schemas import LinkOut, OkOut

router = routing.router("access")

_DASHBOARD = "/app/"


@router.post(
    "/login",
    status_code=201,
    responses=gives(LinkOut, 201, "A code, for half a minute.") | failures(),
)
async def create_link(serving: Serving, _: Administers) -> Response:
    """Make a code that opens the dashboard once, as `callboard open` does."""
    code, until = serving.links.create()
    return reply({"code": code, "expiresAt": iso(from_ms(until))}, 201)


@router.get(
    "/login",
    status_code=303,
    responses={303: {"description": "On to the dashboard, with the cookie."}} | failures(),
    response_class=Response,
)
async def use_link(
    request: Request,
    serving: Serving,
    code: Annotated[str, Query(description="What `POST /login` gave.")] = "",
) -> Response:
    """Exchange a code for the cookie. It works once, and not for long."""
    scope = serving.links.use(code)
    if scope is None:
        raise Forbidden(
            "This link was used before or is too old. Run `callboard open` again.", field="code"
        )
    answer = Response(
        status_code=303, headers={"Location": _DASHBOARD, "Cache-Control": "no-store"}
    )
    answer.set_cookie(
        COOKIE,
        serving.links.cookie(serving.tokens.admin(), scope),
        max_age=round(LIVES.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout", responses=gives(OkOut) | failures())
async def log_out(request: Request, _: Reads) -> Response:
    """Take the cookie back from this browser."""
    answer = reply({"ok": True})
    answer.delete_cookie(
        COOKIE, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer
