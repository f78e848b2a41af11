"""One visit of a phase: its items, the agents' runs, and the questions to people."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from callboard.events.envelope import Json
from callboard.events.failures import ErrorDescription
from callboard.events.payloads.people import TimeoutRule

RunStatus = Literal[
    "running", "completed", "failed", "suspended", "interrupted", "lost", "postponed"
]
AsItIs = GetPydanticSchema(lambda _source, _handler: core_schema.any_schema())
"""Checkpoints store it unchanged, because a `TypedDict` may have additional keys."""

QuestionStatus = Literal["pending", "answered", "expired", "cancelled", "failed"]


@dataclass(slots=True)
class Run:
    """One agent's work in one visit of a phase; in a `for_each`, on one item."""

    agent: str
    status: RunStatus = "running"
    attempt: int = 1
    failures: int = 0
    output: Json = None
    output_at: int = 0
    retry_at: int | None = None
    error: Annotated[ErrorDescription | None, AsItIs] = None
    blockers: list[str] = field(default_factory=list[str])
    """A suspended run continues when one of these questions is closed."""
    once: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(slots=True)
class Asked:
    """A question to a person, from start to end."""

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
    on_timeout: Annotated[TimeoutRule | None, AsItIs] = None
    status: QuestionStatus = "pending"
    value: Json = None
    approved: bool | None = None
    halts: bool = False
    """The workflow does nothing until this is closed."""
    config: dict[str, Json] | None = None
    """The question's config, if answers are checked against it: for coding agents' questions."""
    outcome: str | None = None
    """How an interactive session ended: completed, cancelled, timeout or failed."""
    message: str | None = None
    """Why it was rejected or declined."""
    assignees: list[str] | None = None
    """The only people and groups who may answer."""

    @property
    def timed_out(self) -> bool:
        """Whether its deadline, not a person, closed it."""
        return self.status == "expired"


@dataclass(slots=True)
class Visit:
    """One stay in a phase."""

    phase: str
    number: int
    guard: bool | None = None
    items: list[Json] | None = None
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    question: str | None = None
    updated: bool = False
    responded: bool = False
    before_done: bool = False
    after_done: bool = False

    def key_of(self, item: int) -> str:
        """The key of the run for an item."""
        return run_key(self.phase, self.number, item)

    def item_of(self, run: str) -> int | None:
        """The item of a run; None if the phase has no items."""
        return None if self.items is None else run_item(run)

    def copy(self) -> "Visit":
        """A copy whose runs can change without changing the runs of this visit."""
        runs = {key: replace(run, once=dict(run.once)) for key, run in self.runs.items()}
        return replace(self, runs=runs)


def run_key(phase: str, visit: int, item: int | None = None) -> str:
    """Name a run: `plan#1`, or `review#2/0` for the first item of a `for_each`."""
    return f"{phase}#{visit}" if item is None else f"{phase}#{visit}/{item}"


def run_item(key: str) -> int | None:
    """The item's index in a run's key, or None."""
    _, slash, item = key.rpartition("/")
    return int(item) if slash and item.isdigit() else None
