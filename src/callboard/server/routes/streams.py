"""Events: as JSON, or as a stream of past events followed by new ones."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Header, Query, Request, Response

from callboard.board.replies import EventsPage
from callboard.errors import ValidationError
from callboard.events.envelope import Event
from callboard.events.status import ENDED
from callboard.log.protocol import Portion
from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.answer_rights import may_read_conversations
from callboard.server.event_stream import EventStream
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, SessionPath, failures
from callboard.server.schemas import MOST_EVENTS, Limit, Place
from callboard.server.service import Service
from callboard.server.streams import StreamReader

router = routing.router("events")

MOST = 1000
LARGEST = 2 * 1_048_576
"""Bytes of events after which a page ends. A single event may be larger."""
_LONGEST_ID = len(str(MOST_EVENTS)) - 1

After = Annotated[Place | None, Query(description="Only events after this position.")]
LastEventId = Annotated[str | None, Header(description="Sent by EventSource when it reconnects.")]
LastEvent = Annotated[
    str | None,
    Query(
        alias="lastEvent",
        max_length=64,
        description="The `id` of the event at that position, from the event or from the header "
        "`Callboard-Last-Event`: 409 if the log has another one there now.",
    ),
]


class _Return:
    """What a reader that was here before has read."""

    def __init__(self, last_event_id: LastEventId = None, last_event: LastEvent = None) -> None:
        self.position = last_event_id or None
        self._last_event = last_event

    def place(self, after: int | None) -> int:
        """Where to start. The last event id takes precedence over the reader's older URL."""
        position = self.position
        if position is None:
            return after or 0
        if not position.isdecimal() or len(position) > _LONGEST_ID:
            raise ValidationError(
                f"Last-Event-ID: {position!r} is not a position; send the id of an event.",
                field="Last-Event-ID",
            )
        return int(position)

    async def compare(self, reader: StreamReader) -> None:
        """Compare with the log; HistoryChanged if what the reader has is gone."""
        if self.position or self._last_event:
            await reader.resume(self._last_event)
        else:
            await reader.find()


Returning = Annotated[_Return, Depends()]
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
        **failures(404, 409),
    },
)
async def read_events(
    request: Request,
    serving: Serving,
    _: Reads,
    session_id: SessionPath,
    returning: Returning,
    after: After = None,
    limit: Limit = MOST,
) -> Response:
    """List or stream a session's events, in order."""
    if "text/event-stream" not in request.headers.get("accept", ""):
        portion = Portion(min(limit, MOST), LARGEST)
        events = await serving.board.events(session_id, after or 0, portion)
        return reply(await shown(serving, session_id, events))
    place = returning.place(after)
    info = await serving.board.session(session_id)
    reader = serving.streams.session(session_id, place)
    await returning.compare(reader)
    if place > info.position and reader.last_event is None:
        raise ValidationError(
            f"Session {session_id} has {info.position} events; position {place} doesn't exist.",
            field="after",
            last_position=info.position,
        )
    if info.status in ENDED and place >= info.position:
        return Response(status_code=204)
    return EventStream(reader)


async def shown(serving: Service, stream: str, events: Sequence[Event]) -> EventsPage:
    """A page of events, with where the next one starts, if there is one."""
    is_cut = events and events[-1].position < await serving.board.log.head(stream)
    return EventsPage(events, events[-1].position if is_cut else None)


@router.get(
    "/stream",
    responses={200: {"description": "A stream.", "content": _STREAM}, **failures(409)},
    response_class=Response,
)
async def read_everything(
    request: Request,
    serving: Serving,
    caller: Reads,
    returning: Returning,
    after: After = None,
) -> Response:
    """Stream the events of all sessions, by global sequence; by default, from now on.

    Without the scope `operate`, results of tools, the texts of messages and most of what agents
    said are left out.
    """
    if after is None and returning.position is None:
        after = await serving.board.log.last_sequence()
    place = returning.place(after)
    streams = serving.streams
    if caller.is_page:
        reader = streams.outline(place)
    else:
        reads_all = await may_read_conversations(serving, request, caller)
        reader = streams.everything(place) if reads_all else streams.unsaid(place)
    await returning.compare(reader)
    return EventStream(reader)
