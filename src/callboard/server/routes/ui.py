"""The dashboard's files and the API page.

The files need no token: they get all data from the other routes.
"""

from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from callboard.server import routing
from callboard.server.access.requirement import Reads
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
<p>This server runs from a checkout whose dashboard has not been built yet. Run
<code>make setup</code>, or only <code>npm ci &amp;&amp; npm run build</code>, and reload this page.
Both need Node 20 or later.</p>
<p>Everything else works: the HTTP routes (see <a href="/openapi.json">/openapi.json</a>) and the
command <code>callboard</code>.</p>
</html>
"""


@router.api_route("/", methods=_READS, include_in_schema=False)
@router.api_route("/app", methods=_READS, include_in_schema=False)
async def lead_there() -> Response:
    """Redirect to the dashboard."""
    return Response(status_code=307, headers={"Location": _DASHBOARD})


@router.api_route("/app/{path:path}", methods=_READS, include_in_schema=False)
async def show_dashboard(request: Request, serving: Serving, path: str) -> Response:
    """A file, or the page itself for every path that the page can show."""
    packed = _takes_gzip(request)
    found = serving.dashboard.file(path, packed=packed) if path else None
    if found is not None:
        return _give(request, found)
    # Only people's browsers ask for HTML; scripts, styles and programs don't.
    wants_page = "text/html" in request.headers.get("accept", "")
    if path and (is_asset(path) or not wants_page):
        raise HTTPException(404)
    return _give_page(request, serving.dashboard.file("index.html", packed=packed))


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request, serving: Serving, _: Reads) -> Response:
    """The API page: Swagger UI, which loads the OpenAPI document."""
    return _give_page(request, serving.dashboard.file("docs.html"))


def _give_page(request: Request, page: File | None) -> Response:
    if page is None:
        return Response(
            _NOT_BUILT, 503, {"Cache-Control": "no-store"}, media_type="text/html; charset=utf-8"
        )
    return _give(request, page)


def _give(request: Request, file: File) -> Response:
    headers = {"Cache-Control": file.caching, "ETag": file.tag, "Vary": "Accept, Accept-Encoding"}
    if file.encoding is not None:
        headers["Content-Encoding"] = file.encoding
    known = request.headers.get("if-none-match", "")
    if file.tag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.kind)


def _takes_gzip(request: Request) -> bool:
    offered = request.headers.get("accept-encoding", "").split(",")
    # "gzip;q=0" refuses it.
    return any(one.strip().lower() in ("gzip", "gzip;q=1.0") for one in offered)
