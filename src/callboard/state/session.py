"""What is known of one session: its state, and where its workflow stands.

Everything here is folded from events (`callboard.state.fold`) and nothing else, so that any
prefix of a session is a place to stand.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Literal

from callboard.events.status import Status, status_of

RunStatus = Literal[
    "running", "completed", "failed", "suspended", "interrupted", "lost", "postponed"
]
QuestionStatus = Literal["pending", "answered", "expired", "cancelled", "failed"]


@dataclass(slots=True)
class Run:
    """One agent's work in one visit of a phase; in a `for_each`, on one item."""

    agent: str
    status: RunStatus = "running"
    attempt: int = 1
    failures: int = 0
    output: Any = None
    output_at: int = 0
    retry_at: int | None = None
    error: dict[str, Any] | None = None
    blockers: list[str] = field(default_factory=list[str])
    """A suspended run goes on when one of these questions is closed."""
    once: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class Asked:
    """A question to a person, from asking to its end."""

    id: str
    type: str
    prompt: str
    options: list[str] | None = None
    other: bool = False
    phase: str | None = None
    run: str | None = None
    key: str | None = None
    nth: int = 1
    deadline: int | None = None
    on_timeout: dict[str, Any] | None = None
    status: QuestionStatus = "pending"
    value: Any = None
    approved: bool | None = None
    halts: bool = False
    """The workflow does nothing before this is closed."""
    config: dict[str, Any] | None = None
    """What was said with it, where answers are checked by that: what a coding agent asks."""
    outcome: str | None = None
    """How an interactive session ended: completed, cancelled, timeout or failed."""
    message: str | None = None
    """Why it was answered with no, or declined."""

    @property
    def timed_out(self) -> bool:
        """Whether the clock, not a person, closed it."""
        return self.status == "expired"


@dataclass(slots=True)
class Visit:
    """One stay in a phase."""

    phase: str
    number: int
    guard: bool | None = None
    items: list[Any] | None = None
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    question: str | None = None
    updated: bool = False
    responded: bool = False


@dataclass(slots=True)
class SessionView:
    """A session as its events tell it, up to `position`."""

    session_id: str = ""
    position: int = 0
    state: Any = None
    workflow: str = ""
    version: str | None = None
    source: dict[str, Any] | None = None
    parent: str | None = None
    fork_position: int | None = None
    created_at: int = 0
    updated_at: int = 0
    visit: Visit | None = None
    visits: dict[str, int] = field(default_factory=dict[str, int])
    last_phase: str | None = None
    next_phase: str | None = None
    exit_phase: str | None = None
    questions: dict[str, Asked] = field(default_factory=dict[str, Asked])
    tasks: dict[str, str] = field(default_factory=dict[str, str])
    pausing: dict[str, Any] | None = None
    paused: bool = False
    ended: str | None = None
    error: dict[str, Any] | None = None
    held: str | None = None

    @property
    def status(self) -> Status:
        """How the session stands, in one of seven words."""
        return status_of(
            ended=self.ended,
            paused=self.paused,
            questions=len(self.pending()),
            entered=self.last_phase is not None,
        )

    @property
    def phase(self) -> str | None:
        """The phase it is in, or was in last."""
        return self.visit.phase if self.visit else self.last_phase

    def pending(self) -> list[Asked]:
        """The questions that wait for a person, oldest first."""
        questions = self.questions
        return [q for q in questions.values() if q.status == "pending"] if questions else []

    def halted(self) -> bool:
        """Whether nothing may go on before a question is closed."""
        return any(asked.halts for asked in self.pending())

    def in_flight(self) -> dict[str, Run]:
        """The runs that have started and not come to any end."""
        runs = self.visit.runs if self.visit else {}
        return {key: run for key, run in runs.items() if run.status == "running"}

    def copy(self) -> "SessionView":
        """A view that can be folded further without changing this one.

        The state is shared: patches never change it in place.
        """
        return copy.deepcopy(self, {id(self.state): self.state})


def run_key(phase: str, visit: int, item: int | None = None) -> str:
    """Name a run: `plan#1`, or `review#2/0` for the first item of a `for_each`."""
    return f"{phase}#{visit}" if item is None else f"{phase}#{visit}/{item}"


def run_item(key: str) -> int | None:
    """The item's index in a run's key, or None."""
    _, slash, item = key.rpartition("/")
    return int(item) if slash and item.isdigit() else None
