"""The dashboard's files. They need no token: what they show, they ask the other routes for."""

from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from callboard.server import routing
from callboard.server.dashboard import File, is_asset
from callboard.server.routes.common import Serving

router = routing.router("dashboard")

_READS: Final = ["GET", "HEAD"]
_DASHBOARD: Final = "/app/"

_NOT_BUILT: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Callboard: the dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>This server runs from a checkout, in which nobody has built the dashboard yet. Run
<code>make setup</code>, or only <code>npm ci &amp;&amp; npm run build</code>, and reload this page.
Both need Node 20 or later.</p>
<p>Everything else works: the HTTP routes (see <a href="/docs">/docs</a>) and the command
<code>callboard</code>.</p>
</html>
"""


@router.api_route("/", methods=_READS, include_in_schema=False)
@router.api_route("/app", methods=_READS, include_in_schema=False)
async def lead_there() -> Response:
    """Lead people to the dashboard."""
    return Response(status_code=307, headers={"Location": _DASHBOARD})


@router.api_route("/app/{path:path}", methods=_READS, include_in_schema=False)
async def show_dashboard(request: Request, serving: Serving, path: str) -> Response:
    """Give a file, or the page itself for every address that the page knows how to show."""
    found = serving.dashboard.file(path) if path else None
    if found is not None:
        return _give(request, found)
    if path and (is_asset(path) or not _wants_page(request)):
        raise HTTPException(404)
    page = serving.dashboard.page()
    if page is None:
        return Response(
            _NOT_BUILT, 503, {"Cache-Control": "no-store"}, media_type="text/html; charset=utf-8"
        )
    return _give(request, page)


def _wants_page(request: Request) -> bool:
    """Whether a person goes there: scripts, styles and programs do not ask for HTML."""
    return "text/html" in request.headers.get("accept", "")


def _give(request: Request, file: File) -> Response:
    headers = {"Cache-Control": file.caching, "ETag": file.tag, "Vary": "Accept"}
    known = request.headers.get("if-none-match", "")
    if file.tag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.kind)
