"""A session's view at any position, folded from the nearest checkpoint before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from callboard.errors import SessionNotFound, ValidationError
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.events.rows import Query
from callboard.log.protocol import EventLog
from callboard.state.fold import apply
from callboard.state.session import SessionView


@dataclass(slots=True)
class Loaded:
    """A view, the last event's id, and, if weighed, the bytes that decide when to checkpoint."""

    view: SessionView
    last_id: str | None
    checkpoint_size: int
    size_since: int


async def load(
    log: EventLog, session_id: str, at: int | None = None, *, weighed: bool = False
) -> Loaded:
    """Fold a session up to a position, or to its end.

    `weighed` is for who writes checkpoints; others need not pay for the weighing.
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
    begin = await _checkpoint(log, session_id, position)
    events = await log.read(session_id, max(begin - 1, 0), upto=position, skip=names.NARRATION)
    if begin == 0 and not is_session(events):
        raise not_found(session_id)
    view = SessionView(session_id=session_id)
    for event in events:
        apply(view, event)
    view.position = position
    sizes = _weigh(events) if weighed else (0, 0)
    return Loaded(view, events[-1].id if events else None, *sizes)


async def view_at(log: EventLog, session_id: str, at: int | None = None) -> SessionView:
    """What is known of a session at a position; at 0 that is its initial state."""
    if at == 0:
        first = await log.read(session_id, upto=1)
        if not first or not is_session(first):
            raise not_found(session_id)
        begun = first[0].payload
        state = begun.get("initialState")
        return SessionView(session_id=session_id, state=state, workflow=begun["workflow"])
    return (await load(log, session_id, at)).view


def is_session(beginning: Sequence[Event]) -> bool:
    """Whether a stream that begins so is a session's: questions and plates have streams too."""
    return bool(beginning) and beginning[0].name in (names.STARTED, names.FORKED)


def not_found(session_id: str) -> SessionNotFound:
    """The error for an id that no session has."""
    return SessionNotFound(
        f"There is no session {session_id!r}. List them with: callboard sessions",
        session_id=session_id,
    )


def _weigh(events: list[Event]) -> tuple[int, int]:
    """The bytes of the last checkpoint, and of what came after it."""
    checkpoint_size = size_since = 0
    for event in events:
        size = len(dump_json(event.payload))
        if event.name == names.CHECKPOINT:
            checkpoint_size, size_since = size, 0
        else:
            size_since += size
    return checkpoint_size, size_since


async def _checkpoint(log: EventLog, session_id: str, position: int) -> int:
    """The newest checkpoint at or before a position; a fork's may lie in what it came from."""
    for part in reversed(await log.lineage(session_id)):
        where = Query(
            "checkpoints",
            {"session": part.stream},
            at_most=("position", min(position, part.position)),
            order="position",
            descending=True,
            limit=1,
        )
        if found := await log.rows(where):
            return found[0]["position"]
    return 0
