"""The page that documents the server, for people."""

from fastapi import Request, Response

from callboard.server import docs_page, routing
from callboard.server.access.requirement import Reads

router = routing.router("operation")


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request, _: Reads) -> Response:
    """Every route, what it takes and gives, and a command that tries it."""
    address = str(request.base_url).rstrip("/")
    made = docs_page.page(request.app.openapi(), address)
    return Response(made, media_type="text/html")


@router.get(docs_page.STYLE, include_in_schema=False)
async def show_style(_: Reads) -> Response:
    """How the page looks."""
    return Response(docs_page.style(), media_type="text/css")
