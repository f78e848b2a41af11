"""What a session did so far, told from its events: its stays in phases, and the way it took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from callboard.cli.picture import Edge
from callboard.engine.offers import PhaseInfo
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.moments import from_ms, iso, to_ms
from callboard.state.timeline import Interval, Timeline


@dataclass(frozen=True, slots=True)
class Work:
    """One agent's run in a stay, with all its attempts."""

    tried: Sequence[Interval]

    @property
    def agent(self) -> str:
        """Who works."""
        return names.AGENT_STARTED.read(self.tried[0].began)["agent"]

    @property
    def attempts(self) -> int:
        """How often it was tried."""
        return names.AGENT_STARTED.read(self.tried[-1].began)["attempt"]

    @property
    def status(self) -> str:
        """How its last attempt stands."""
        last = self.tried[-1]
        if last.ended is None:
            return "running"
        if not last.cut_off and last.ended.payload.get("retryInMs") is not None:
            return "retrying"
        return _STATUSES.get(last.ended.name, "interrupted")

    def to_wire(self, now: datetime) -> dict[str, object]:
        """The run as JSON readers see it."""
        return {
            "agent": self.agent,
            "attempts": self.attempts,
            "status": self.status,
            "workedMs": sum(one.took(to_ms(now)) for one in self.tried),
        }


_STATUSES: Final[Mapping[str, str]] = {
    names.AGENT_COMPLETED: "completed",
    names.PHASE_FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class Stay:
    """One visit of a phase, with what was done and how long people were waited for."""

    visit: Interval

    @property
    def phase(self) -> str:
        """The phase's name."""
        return names.PHASE_ENTERED.read(self.visit.began)["phase"]

    @property
    def number(self) -> int:
        """Which visit of the phase it is."""
        return names.PHASE_ENTERED.read(self.visit.began)["visit"]

    @property
    def entered(self) -> datetime:
        """When it started."""
        return from_ms(self.visit.start_ms)

    @property
    def outcome(self) -> str:
        """How it ended: `open` if it has not, `cancelled` if the session ended in it."""
        if self.visit.ended is None:
            return "open"
        exited = names.PHASE_EXITED.of(self.visit.ended)
        return "cancelled" if exited is None else exited["reason"]

    @property
    def next(self) -> str | None:
        """The phase that it led to."""
        exited = self.visit.ended and names.PHASE_EXITED.of(self.visit.ended)
        return None if exited is None else exited.get("next")

    @property
    def is_terminal(self) -> bool:
        """Whether the session could end with it."""
        ended = self.visit.ended
        is_last = ended is not None and bool(ended.payload.get("terminal"))
        return self.outcome == "terminal" or is_last

    @property
    def works(self) -> list[Work]:
        """The runs of agents in it."""
        runs: dict[str, list[Interval]] = {}
        for one in self.visit.inner:
            if one.kind == "attempt":
                run = names.AGENT_STARTED.read(one.began)["run"]
                runs.setdefault(run, []).append(one)
        return [Work(tried) for tried in runs.values()]

    @property
    def questions(self) -> list[Interval]:
        """The waits for people in it."""
        return [one for one in self.visit.inner if one.kind == "wait"]

    @property
    def error(self) -> Mapping[str, object] | None:
        """The last error in it, unless an agent completed since."""
        failure = self.visit.failure and names.PHASE_FAILED.of(self.visit.failure)
        return None if failure is None or self.visit.recovered else failure["error"]

    def waited_ms(self, now_ms: int) -> int:
        """How long people were waited for, questions at the same time counted once each."""
        return sum(one.took(now_ms) for one in self.questions if not one.cut_off)

    def to_wire(self, now: datetime) -> dict[str, object]:
        """The stay as JSON readers see it."""
        ended = self.visit.ended
        return {
            "phase": self.phase,
            "visit": self.number,
            "enteredAt": iso(self.entered),
            "exitedAt": iso(ended.timestamp) if ended else None,
            "durationMs": self.visit.took(to_ms(now)),
            "outcome": self.outcome,
            "next": self.next,
            "waitedMs": self.waited_ms(to_ms(now)),
            "questions": len(self.questions),
            "agents": [work.to_wire(now) for work in self.works],
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class History:
    """A session's stays, oldest first, and when it ended."""

    stays: Sequence[Stay]
    ended: datetime | None

    @property
    def edges(self) -> Counter[Edge]:
        """The ways between phases that it took."""
        pairs = ((one.phase, one.next, then.phase) for one, then in pairwise(self.stays))
        return Counter((phase, then) for phase, meant, then in pairs if meant == then)

    @property
    def visits(self) -> dict[str, int]:
        """How often each phase was entered."""
        return dict(Counter(stay.phase for stay in self.stays))


def history(events: Iterable[Event]) -> History:
    """Fold a session's events into its history."""
    timeline, visits, ended = Timeline(), list[Interval](), None
    for event in events:
        change = timeline.add(event)
        for one in change.began:
            if one.kind == "phase":
                if event.name == names.FORKED:
                    visits.pop()  # What was open in the parent starts again here.
                visits.append(one)
        if event.name in names.TERMINAL:
            ended = event.timestamp
        elif event.name == names.FORKED:
            ended = None
    return History([Stay(visit) for visit in visits], ended)


def phases_seen(told: History) -> Sequence[PhaseInfo]:
    """The phases as far as the session saw them, for a workflow that cannot be loaded."""
    agents = {stay.phase: work.agent for stay in reversed(told.stays) for work in stay.works}
    humans = {
        stay.phase
        for stay in told.stays
        if any(one.began.payload.get("inline") for one in stay.questions)
    }
    terminals = {stay.phase for stay in told.stays if stay.is_terminal}
    return [
        PhaseInfo(name, agents.get(name), name in humans, name in terminals, None)
        for name in told.visits
    ]
