"""What a session has done so far, from its events: its visits of phases, and its path."""

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
    """One agent's run in a visit, with all its attempts."""

    tried: Sequence[Interval]

    @property
    def agent(self) -> str:
        """The agent's name."""
        return names.AGENT_STARTED.read(self.tried[0].began)["agent"]

    @property
    def attempts(self) -> int:
        """The number of attempts."""
        return names.AGENT_STARTED.read(self.tried[-1].began)["attempt"]

    @property
    def status(self) -> str:
        """The status of the last attempt."""
        last = self.tried[-1]
        if last.ended is None:
            return "running"
        if not last.cut_off and last.ended.payload.get("retryInMs") is not None:
            return "retrying"
        return _STATUSES.get(last.ended.name, "interrupted")

    def to_wire(self, now: datetime) -> dict[str, object]:
        """The run as JSON."""
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
    """One visit of a phase, with its runs and how long it waited for people."""

    visit: Interval

    @property
    def phase(self) -> str:
        """The phase's name."""
        return names.PHASE_ENTERED.read(self.visit.began)["phase"]

    @property
    def number(self) -> int:
        """The number of the visit."""
        return names.PHASE_ENTERED.read(self.visit.began)["visit"]

    @property
    def entered(self) -> datetime:
        """When it started."""
        return from_ms(self.visit.start_ms)

    @property
    def outcome(self) -> str:
        """How it ended: `open` if it hasn't, `cancelled` if the session ended in it."""
        if self.visit.ended is None:
            return "open"
        exited = names.PHASE_EXITED.of(self.visit.ended)
        return "cancelled" if exited is None else exited["reason"]

    @property
    def next(self) -> str | None:
        """The next phase."""
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
        """The agents' runs in it."""
        runs: dict[str, list[Interval]] = {}
        for one in self.visit.inner:
            if one.kind == "attempt":
                run = names.AGENT_STARTED.read(one.began)["run"]
                runs.setdefault(run, []).append(one)
        return [Work(tried) for tried in runs.values()]

    @property
    def questions(self) -> list[Interval]:
        """Its waits for people."""
        return [one for one in self.visit.inner if one.kind == "wait"]

    @property
    def error(self) -> Mapping[str, object] | None:
        """The last error in it, unless an agent has completed since."""
        failure = self.visit.failure and names.PHASE_FAILED.of(self.visit.failure)
        return None if failure is None or self.visit.recovered else failure["error"]

    def waited_ms(self, now_ms: int) -> int:
        """How long it waited for people; simultaneous questions count once each."""
        return sum(one.took(now_ms) for one in self.questions if not one.cut_off)

    def to_wire(self, now: datetime) -> dict[str, object]:
        """The visit as JSON."""
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
    """A session's visits, oldest first, and when it ended."""

    stays: Sequence[Stay]
    ended: datetime | None

    @property
    def edges(self) -> Counter[Edge]:
        """The transitions between phases that it took."""
        pairs = ((one.phase, one.next, then.phase) for one, then in pairwise(self.stays))
        return Counter((phase, then) for phase, meant, then in pairs if meant == then)

    @property
    def visits(self) -> dict[str, int]:
        """The number of visits of each phase."""
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
    """The phases that the session has seen, for a workflow that can't be loaded."""
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
