"""When a session was in which phase, when its agents worked, and when it waited for people.

A pure fold that pairs each event that starts something with the event that ends it. Everything
about an interval comes from these two events.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from callboard.events import names
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_text

Kind = Literal["session", "phase", "attempt", "wait"]

_BEGINS: Final[Mapping[str, Kind]] = {
    names.STARTED: "session",
    names.FORKED: "session",
    names.PHASE_ENTERED: "phase",
    names.AGENT_STARTED: "attempt",
    names.REQUESTED: "wait",
}
_ENDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(names.TERMINAL, "session"),
    names.PHASE_EXITED: "phase",
    names.PHASE_FAILED: "attempt",
    names.AGENT_COMPLETED: "attempt",
    names.AGENT_INTERRUPTED: "attempt",
    **dict.fromkeys(names.CLOSES_QUESTION, "wait"),
    names.DETACHED: "wait",
}


@dataclass(slots=True, eq=False)
class Interval:
    """Something that took time: a session, a visit of a phase, an agent's attempt, a wait."""

    kind: Kind
    began: Event
    start_ms: int
    """When it started. In a fork, what the parent had open starts with the fork."""
    phase: "Interval | None" = None
    """The visit in which it happened."""
    ended: Event | None = None
    inner: list["Interval"] = field(default_factory=list["Interval"])
    """What happened in a visit, by start."""
    failure: Event | None = None
    """The last failure in a visit."""
    recovered: bool = False
    """Whether an agent completed after that failure."""

    @property
    def cut_off(self) -> bool:
        """Whether it ended only because its phase or session did."""
        return self.ended is not None and _ENDS[self.ended.name] != self.kind

    def took(self, now_ms: int) -> int:
        """How many milliseconds it took, or has taken so far."""
        return (now_ms if self.ended is None else self.ended.at_ms) - self.start_ms


class TimelineChange(NamedTuple):
    """What started and what ended with an event."""

    began: list[Interval]
    ended: list[Interval]


class Timeline:
    """What is open in a session at some position. Doesn't keep what has ended."""

    def __init__(self) -> None:
        self.session: Interval | None = None
        self.phase: Interval | None = None
        self._open: dict[tuple[Kind, str], Interval] = {}

    def add(self, event: Event) -> TimelineChange:
        """Add the session's next event; returns what it changed."""
        if event.name == names.FORKED:
            return TimelineChange(self._fork(event), [])
        if (kind := _BEGINS.get(event.name)) is not None:
            return TimelineChange([self._begin(Interval(kind, event, event.at_ms))], [])
        if (kind := _ENDS.get(event.name)) is not None:
            return TimelineChange([], self._end(kind, event))
        return TimelineChange([], [])

    def _fork(self, event: Event) -> list[Interval]:
        """Start a session in the middle of another: the open phase starts again."""
        phase, self.phase = self.phase, None
        self._open.clear()
        began = [self._begin(Interval("session", event, event.at_ms))]
        if phase is not None:
            began.append(self._begin(Interval("phase", phase.began, event.at_ms)))
        return began

    def _begin(self, one: Interval) -> Interval:
        if one.kind == "session":
            self.session = one
        elif one.kind == "phase":
            self.phase = one
        elif self.phase is not None:
            one.phase = self.phase
            self.phase.inner.append(one)
        self._open[one.kind, _key(one.kind, one.began.payload)] = one
        return one

    def _end(self, kind: Kind, event: Event) -> list[Interval]:
        if kind == "session":
            ended = [one for one in reversed(self._open.values()) if one.kind != "session"]
            ended += [self.session] if self.session is not None else []
            self.session = self.phase = None
        elif kind == "phase":
            phase, self.phase = self.phase, None
            within = [one for one in self._open.values() if one.phase is phase]
            ended = [] if phase is None else [*within, phase]
        else:
            if kind == "attempt" and self.phase is not None:
                _note(self.phase, event)
            found = self._open.get((kind, _key(kind, event.payload)))
            ended = [] if found is None else [found]
        for one in ended:
            one.ended = event
            del self._open[one.kind, _key(one.kind, one.began.payload)]
        return ended


def _note(phase: Interval, event: Event) -> None:
    """Record the last failure of a visit, and whether an agent has completed since."""
    if event.name == names.PHASE_FAILED:
        phase.failure, phase.recovered = event, False
    elif event.name == names.AGENT_COMPLETED:
        phase.recovered = True


def _key(kind: Kind, payload: Mapping[str, Json]) -> str:
    """Identifies an open interval among those of its kind."""
    if kind == "attempt":
        return as_text(payload.get("run"))
    return as_text(payload["id"]) if kind == "wait" else ""
