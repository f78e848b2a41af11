"""What the server counts, for whoever watches it."""

from fastapi import Response

from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.metrics import CONTENT_TYPE
from callboard.server.routes.common import Serving
from callboard.server.routes.documented import failures

router = routing.router("operation")

_TEXT = {
    200: {
        "description": "The text format of Prometheus.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}


@router.get("/metrics", responses={**_TEXT, **failures()}, response_class=Response)
async def show_metrics(serving: Serving, _: Reads) -> Response:
    """Sessions by status, questions that wait, requests and how long they take."""
    return Response(await serving.metrics.text(), media_type=CONTENT_TYPE)
