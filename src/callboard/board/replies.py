"""A server's responses, besides sessions, questions and plates themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callboard.board.plate import Plate
from callboard.events.envelope import Event, Json
from callboard.events.failures import ErrorDescription
from callboard.events.shapes import Millis, Omitted, Shape


@dataclass(frozen=True, slots=True)
class Failure(Shape):
    """The format of every error."""

    error: ErrorDescription


@dataclass(frozen=True, slots=True)
class Ok(Shape):
    """Done."""

    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class PauseResult(Shape):
    """Whether this request paused the session."""

    was_paused: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class ResumeResult(Shape):
    """Whether this request resumed the session."""

    was_resumed: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class CancelResult(Shape):
    """Whether this request cancelled the session."""

    was_cancelled: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class Started(Shape):
    """The session that was started."""

    session_id: str


@dataclass(frozen=True, slots=True)
class StateAt(Shape):
    """A state, its position, and how many events were folded for it."""

    state: Json
    position: int
    events_replayed: int


@dataclass(frozen=True, slots=True)
class EventsPage(Shape):
    """Events in order; `nextAfter` is set if there are more."""

    events: Sequence[Event]
    next_after: Omitted[int] = None


@dataclass(frozen=True, slots=True)
class PlateList(Shape):
    """The board: plates that need a person first, then the most recently changed."""

    plates: list[Plate]


@dataclass(frozen=True, slots=True)
class Recorded(Shape):
    """It was recorded."""

    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Stopped(Shape):
    """How many plates this closed."""

    count: int
    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Link(Shape):
    """A code that opens the dashboard, once."""

    code: str
    expires_at: Millis


@dataclass(frozen=True, slots=True)
class Health(Shape):
    """The server is up. It says nothing else, because anyone can ask."""

    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Acknowledged(Shape):
    """The number of the last item that was recorded, with all before it."""

    acknowledged: int
