"""What a session did so far, told from its events: its stays in phases, and the way it took."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from callboard.cli.picture import Edge, PhaseShape
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.moments import iso

Payload = Mapping[str, Any]


@dataclass(slots=True)
class Work:
    """One agent's run in a stay: how it stands, and how long it has worked in all attempts."""

    agent: str
    attempts: int = 0
    status: str = "running"
    worked: timedelta = timedelta()
    since: datetime | None = None

    def stop(self, status: str, at: datetime) -> None:
        """Note that an attempt has ended."""
        self.status = status
        if self.since is not None:
            self.worked += at - self.since
            self.since = None


@dataclass(slots=True)
class Stay:
    """One visit of a phase, with what was done and how long people were waited for."""

    phase: str
    number: int
    entered: datetime
    left: datetime | None = None
    outcome: str = "open"
    next: str | None = None
    works: dict[str, Work] = field(default_factory=dict[str, Work])
    asked: int = 0
    waited: timedelta = timedelta()
    waiting: dict[str, datetime] = field(default_factory=dict[str, datetime])
    error: Mapping[str, Any] | None = None

    def took(self, now: datetime) -> timedelta:
        """How long it lasted, or has lasted until now."""
        return (self.left or now) - self.entered

    def waited_for_people(self, now: datetime) -> timedelta:
        """How long people were waited for, questions at the same time counted once each."""
        return sum((now - since for since in self.waiting.values()), self.waited)

    def to_wire(self, now: datetime) -> dict[str, Any]:
        """The stay as JSON readers see it."""
        return {
            "phase": self.phase,
            "visit": self.number,
            "enteredAt": iso(self.entered),
            "exitedAt": iso(self.left) if self.left else None,
            "durationMs": _ms(self.took(now)),
            "outcome": self.outcome,
            "next": self.next,
            "waitedMs": _ms(self.waited_for_people(now)),
            "questions": self.asked,
            "agents": [_work(work, now) for work in self.works.values()],
            "error": self.error,
        }


def _work(work: Work, now: datetime) -> dict[str, Any]:
    worked = work.worked + (now - work.since if work.since else timedelta())
    return {
        "agent": work.agent,
        "attempts": work.attempts,
        "status": work.status,
        "workedMs": _ms(worked),
    }


def _ms(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)


@dataclass(slots=True)
class History:
    """A session's stays, oldest first, and the edges between phases that it took."""

    stays: list[Stay] = field(default_factory=list[Stay])
    edges: Counter[Edge] = field(default_factory=Counter[Edge])
    ended: datetime | None = None
    humans: set[str] = field(default_factory=set[str])
    terminals: set[str] = field(default_factory=set[str])
    leaving: Edge | None = None

    @property
    def visits(self) -> dict[str, int]:
        """How often each phase was entered."""
        return dict(Counter(stay.phase for stay in self.stays))

    @property
    def open(self) -> Stay | None:
        """The stay that is not over."""
        last = self.stays[-1] if self.stays else None
        return last if last and last.left is None else None


def history(events: Iterable[Event]) -> History:
    """Fold a session's events into its history."""
    told = History()
    for event in events:
        handler = _HANDLERS.get(event.name)
        if handler:
            handler(told, event.payload, event.timestamp)
    return told


def _entered(told: History, payload: Payload, at: datetime) -> None:
    phase = payload["phase"]
    if told.leaving is not None and told.leaving[1] == phase:
        told.edges[told.leaving] += 1
    told.leaving = None
    told.stays.append(Stay(phase, payload["visit"], at))


def _exited(told: History, payload: Payload, at: datetime) -> None:
    stay = told.open
    if stay is None:
        return
    stay.left, stay.outcome, stay.next = at, payload["reason"], payload.get("next")
    stay.waiting.clear()
    told.leaving = (stay.phase, stay.next) if stay.next else None
    if stay.outcome == "terminal" or payload.get("terminal"):
        told.terminals.add(stay.phase)


def _failed(told: History, payload: Payload, at: datetime) -> None:
    stay = told.open
    if stay is None:
        return
    stay.error = payload["error"]
    work = stay.works.get(payload.get("run") or "")
    if work is not None:
        work.stop("retrying" if payload.get("retryInMs") is not None else "failed", at)


def _agent_started(told: History, payload: Payload, at: datetime) -> None:
    stay = told.open
    if stay is not None:
        work = stay.works.setdefault(payload["run"], Work(payload["agent"]))
        work.attempts, work.status, work.since = payload["attempt"], "running", at


def _agent_stopped(status: str) -> Callable[[History, Payload, datetime], None]:
    def handle(told: History, payload: Payload, at: datetime) -> None:
        stay = told.open
        work = stay.works.get(payload["run"]) if stay else None
        if work is not None:
            work.stop("retrying" if "retryInMs" in payload else status, at)
            if status == "completed" and stay is not None:
                stay.error = None

    return handle


def _requested(told: History, payload: Payload, at: datetime) -> None:
    stay = told.open
    if stay is not None:
        stay.asked += 1
        stay.waiting[payload["id"]] = at
        if payload.get("inline"):
            told.humans.add(stay.phase)


def _closed(told: History, payload: Payload, at: datetime) -> None:
    stay = told.open
    since = stay.waiting.pop(payload["id"], None) if stay else None
    if stay is not None and since is not None:
        stay.waited += at - since


def _forked(told: History, payload: Payload, at: datetime) -> None:
    """What was open in the parent begins again here: its time is not this session's."""
    told.ended = None
    stay = told.open
    if stay is not None:
        told.stays[-1] = Stay(stay.phase, stay.number, at)


def _ended(told: History, payload: Payload, at: datetime) -> None:
    told.ended = at
    stay = told.open
    if stay is not None:
        stay.left, stay.outcome = at, "cancelled"
        stay.waiting.clear()


_HANDLERS: Mapping[str, Callable[[History, Payload, datetime], None]] = {
    names.PHASE_ENTERED: _entered,
    names.PHASE_EXITED: _exited,
    names.PHASE_FAILED: _failed,
    names.AGENT_STARTED: _agent_started,
    names.AGENT_COMPLETED: _agent_stopped("completed"),
    names.AGENT_INTERRUPTED: _agent_stopped("interrupted"),
    names.REQUESTED: _requested,
    names.RECEIVED: _closed,
    names.EXPIRED: _closed,
    names.INPUT_CANCELLED: _closed,
    names.INPUT_FAILED: _closed,
    names.FORKED: _forked,
    names.COMPLETED: _ended,
    names.FAILED: _ended,
    names.CANCELLED: _ended,
}


def shapes_of(workflow: Workflow) -> list[PhaseShape]:
    """The phases of a workflow, as it is defined."""
    return [
        PhaseShape(
            step.name,
            step.agent.name if step.agent else None,
            step.human is not None,
            step.phase.terminal,
            step.leads_to,
        )
        for step in workflow.steps.values()
    ]


def shapes_seen(told: History) -> Sequence[PhaseShape]:
    """The phases as far as the session saw them, for a workflow that cannot be loaded."""
    agents = {
        stay.phase: work.agent for stay in reversed(told.stays) for work in stay.works.values()
    }
    return [
        PhaseShape(name, agents.get(name), name in told.humans, name in told.terminals, None)
        for name in told.visits
    ]
