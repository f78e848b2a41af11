"""Sign in to the dashboard: one-time codes and the cookies they are exchanged for."""

from typing import Annotated

from fastapi import Query, Request, Response

from callboard.board.replies import Link, Ok
from callboard.errors import Forbidden
from callboard.server import routing
from callboard.server.access.credentials import cookies
from callboard.server.access.head import Head
from callboard.server.access.login import LIVES, SignIn
from callboard.server.access.requirement import COOKIE, Administers, Reads
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import LinkRequest
from callboard.server.service import Service

router = routing.router("access")

_DASHBOARD = "/app/"
_SETTINGS = "/app/settings"
"""Where people land who sign in as an admin."""


@router.post(
    "/login",
    status_code=201,
    responses=gives(Link, 201, "A code that works for 30 seconds.") | failures(),
)
async def create_link(
    request: Request, serving: Serving, caller: Administers, given: LinkRequest | None = None
) -> Response:
    """Create a code that opens the dashboard once, as `callboard open` does."""
    scope = "operate" if given is None else given.scope
    if scope == "admin":
        await check_person(serving, request, "sign in as an admin")
    code, until = await serving.links.create(SignIn(caller.person, scope, caller.groups))
    return reply(Link(code, until), 201)


@router.get(
    "/login",
    status_code=303,
    responses={303: {"description": "Redirect to the dashboard, with the cookie."}} | failures(),
    response_class=Response,
)
async def use_link(
    request: Request,
    serving: Serving,
    code: Annotated[str, Query(description="The code from `POST /login`.")] = "",
) -> Response:
    """Exchange a code for a cookie. A code works once, for a short time."""
    who = await serving.links.use(code)
    if who is None:
        return _refuse(request, serving)
    await serving.sign_ins.note(who, by_proxy=False)
    answer = Response(
        status_code=303,
        headers={
            "Location": _SETTINGS if who.scope == "admin" else _DASHBOARD,
            "Cache-Control": "no-store",
        },
    )
    answer.set_cookie(
        COOKIE,
        await serving.links.cookie(who),
        max_age=round(LIVES.total_seconds()),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


def _refuse(request: Request, serving: Service) -> Response:
    """Report that the link was used: to people on the dashboard's page, to programs as an error."""
    page = serving.dashboard.file("index.html")
    if page is None or "text/html" not in request.headers.get("accept", ""):
        raise Forbidden(
            "This sign-in link has expired or was already used. Run `callboard open` for a new "
            "one.",
            field="code",
        )
    return Response(page.content, 403, {"Cache-Control": "no-store"}, media_type=page.kind)


@router.post("/logout", responses=gives(Ok) | failures())
async def log_out(request: Request, serving: Serving, _: Reads) -> Response:
    """Invalidate the cookie, and remove it from this browser."""
    for cookie in cookies(Head(request.scope)):
        await serving.links.sign_out(cookie)
    answer = reply(Ok())
    answer.delete_cookie(
        COOKIE, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer
