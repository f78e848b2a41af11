"""Loads a session's view at any position, folded from the nearest checkpoint before it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callboard.engine.checkpoints import SinceCheckpoint
from callboard.errors import SessionNotFound, ValidationError
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.rows import Query, Row
from callboard.log.protocol import EventLog
from callboard.state.fold import apply, before_events
from callboard.state.session import SessionView

_PAGE = 4096
"""How many positions to read at once, so that a long session is not in memory twice."""


@dataclass(slots=True)
class Loaded:
    """A view, the id of the last event, and, if weighed, the sizes that decide on checkpoints."""

    view: SessionView
    last_id: str | None = None
    since: SinceCheckpoint = field(default_factory=SinceCheckpoint)

    async def fold(self, events: Sequence[Event], *, weighed: bool) -> None:
        """Fold these events, too."""
        for event in events:
            apply(self.view, event)
            self.last_id = event.id
        if weighed:
            await self.since.count(events)


async def load(
    log: EventLog, session_id: str, at: int | None = None, *, weighed: bool = False
) -> Loaded:
    """Fold a session up to a position, or to its end.

    `weighed` is for callers that write checkpoints; it costs time.
    """
    head = await log.head(session_id)
    if head == 0:
        raise not_found(session_id)
    position = head if at is None else at
    if not 0 <= position <= head:
        raise ValidationError(
            f"Session {session_id} has positions 0 to {head}, not {position}.",
            field="position",
            last_position=head,
        )
    begin = await log.checkpoint(session_id, position)
    loaded = Loaded(SessionView(session_id=session_id))
    after = max(begin - 1, 0)
    while after < position:
        upto = min(after + _PAGE, position)
        events = await log.read(session_id, after, upto, skip=names.NARRATION)
        if begin == 0 and after == 0 and not is_session(events):
            raise not_found(session_id)
        await loaded.fold(events, weighed=weighed)
        after = upto
    loaded.view.position = position
    return loaded


async def view_at(log: EventLog, session_id: str, at: int | None = None) -> SessionView:
    """A session's view at a position; at 0, with its initial state."""
    if at == 0:
        first = await log.read(session_id, upto=1)
        if not first or not is_session(first):
            raise not_found(session_id)
        return before_events(session_id, first[0])
    return (await load(log, session_id, at)).view


async def is_driven(log: EventLog, session_id: str) -> bool:
    """Whether a living process drives a session."""
    lease = await log.lease(session_id)
    return lease is not None and lease.owner is not None and lease.alive


def is_session(beginning: Sequence[Event]) -> bool:
    """Whether a stream that starts like this is a session: not a question and not a plate."""
    return bool(beginning) and beginning[0].name in (names.STARTED, names.FORKED)


async def session_row(log: EventLog, session_id: str) -> Row:
    """The row of a session; SessionNotFound if it doesn't exist."""
    rows = await log.rows(Query("sessions", {"id": session_id}))
    if not rows:
        raise not_found(session_id)
    return rows[0]


def not_found(session_id: str) -> SessionNotFound:
    """The error for an unknown session id."""
    return SessionNotFound(
        f"There is no session {session_id!r}. List them with: callboard sessions",
        session_id=session_id,
    )
