"""Events: as JSON, or as a stream of past events followed by new ones."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Header, Query, Request, Response

from callboard.board.replies import EventsPage
from callboard.errors import ValidationError
from callboard.events.envelope import Event
from callboard.events.status import ENDED
from callboard.log.protocol import Portion
from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.event_stream import EventStream
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, SessionPath, failures
from callboard.server.schemas import MOST_EVENTS, Limit, Place
from callboard.server.service import Service

router = routing.router("events")

MOST = 1000
LARGEST = 2 * 1_048_576
"""Bytes of events after which a page ends. A single event may be larger."""
_LONGEST_ID = len(str(MOST_EVENTS)) - 1

After = Annotated[Place | None, Query(description="Only events after this position.")]
LastEventId = Annotated[str | None, Header(description="Sent by EventSource when it reconnects.")]
_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
_OVER = {204: {"description": "The session has ended; no more events will come."}}


@router.get(
    "/sessions/{session_id}/events",
    responses={
        200: {
            "model": EventsPage,
            "description": "JSON, or with `Accept: text/event-stream` a stream.",
            "content": _STREAM,
        },
        **_OVER,
        **failures(404),
    },
)
async def read_events(
    request: Request,
    serving: Serving,
    _: Reads,
    session_id: SessionPath,
    after: After = None,
    limit: Limit = MOST,
    last_event_id: LastEventId = None,
) -> Response:
    """List or stream a session's events, in order."""
    if "text/event-stream" not in request.headers.get("accept", ""):
        portion = Portion(min(limit, MOST), LARGEST)
        events = await serving.board.events(session_id, after or 0, portion)
        return reply(await shown(serving, session_id, events))
    place = _place(after, last_event_id)
    info = await serving.board.session(session_id)
    if place > info.position:
        raise ValidationError(
            f"Session {session_id} has {info.position} events; position {place} doesn't exist.",
            field="after" if last_event_id is None else "Last-Event-ID",
            last_position=info.position,
        )
    if info.status in ENDED and place >= info.position:
        return Response(status_code=204)
    return EventStream(serving.streams.session(session_id, place))


async def shown(serving: Service, stream: str, events: Sequence[Event]) -> EventsPage:
    """A page of events, with where the next one starts, if there is one."""
    is_cut = events and events[-1].position < await serving.board.log.head(stream)
    return EventsPage(events, events[-1].position if is_cut else None)


@router.get(
    "/stream",
    responses={200: {"description": "A stream.", "content": _STREAM}, **failures()},
    response_class=Response,
)
async def read_everything(
    serving: Serving, caller: Reads, after: After = None, last_event_id: LastEventId = None
) -> Response:
    """Stream the events of all sessions, by global sequence; by default, from now on."""
    if after is None and last_event_id is None:
        after = await serving.board.log.last_sequence()
    place = _place(after, last_event_id)
    streams = serving.streams
    return EventStream(streams.outline(place) if caller.is_page else streams.everything(place))


def _place(after: int | None, last_event_id: str | None) -> int:
    """Where to start. A returning reader's last event id takes precedence over its older URL."""
    if last_event_id is None or last_event_id == "":
        return after or 0
    if not last_event_id.isdecimal() or len(last_event_id) > _LONGEST_ID:
        raise ValidationError(
            f"Last-Event-ID: {last_event_id!r} is not a position; send the id of an event.",
            field="Last-Event-ID",
        )
    return int(last_event_id)
