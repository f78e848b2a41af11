"""What a server replies with, beside sessions, questions and plates themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callboard.board.plate import Plate
from callboard.events.envelope import Event, Json
from callboard.events.shapes import Millis, Omitted, Shape


@dataclass(frozen=True, slots=True)
class Ok(Shape):
    """Done."""

    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class PauseResult(Shape):
    """Whether it was this request that paused it."""

    was_paused: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class ResumeResult(Shape):
    """Whether it was this request that let it continue."""

    was_resumed: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class CancelResult(Shape):
    """Whether it was this request that ended it."""

    was_cancelled: bool
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True)
class Started(Shape):
    """The session that was started."""

    session_id: str


@dataclass(frozen=True, slots=True)
class StateAt(Shape):
    """A state, and what it was made of."""

    state: Json
    position: int
    events_replayed: int


@dataclass(frozen=True, slots=True)
class EventsPage(Shape):
    """Events in their order; `nextAfter` when there are more."""

    events: Sequence[Event]
    next_after: Omitted[int] = None


@dataclass(frozen=True, slots=True)
class PlateList(Shape):
    """The board: those that need a person first, then the newest change first."""

    plates: list[Plate]


@dataclass(frozen=True, slots=True)
class Recorded(Shape):
    """It was recorded."""

    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Stopped(Shape):
    """How many plates were closed by it."""

    count: int
    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Link(Shape):
    """A code that opens the dashboard once."""

    code: str
    expires_at: Millis


@dataclass(frozen=True, slots=True)
class Health(Shape):
    """The server is up. It says nothing else, because anyone may ask."""

    status: Literal["ok"] = "ok"
