"""How a workflow asks a question: Approval, Choice, and what to do without an answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, cast

from callboard.errors import AnswerInvalid, DefinitionError, ValidationError
from callboard.events.envelope import Json
from callboard.events.payloads.people import TimeoutRule
from callboard.interactions.assignment import checked_assignees

Duration = float | timedelta
Prompt = str | Callable[..., str]
Options = Sequence[str] | Callable[..., Sequence[str]]
Assignees = Sequence[str] | Callable[..., Sequence[str] | None] | None
"""The only people who may answer, and groups as `group:NAME`; None means anyone."""


@dataclass(frozen=True, slots=True)
class Escalate:
    """At the deadline, ask more people.

    `after` is how long they have; when that is over too, `then` applies.
    """

    to: str | Sequence[str]
    after: Duration | None = None
    then: "OnTimeout" = "wait"


OnTimeout = str | bool | Escalate
"""`"wait"` (only remind), `"reject"`, `"approve"`, `"fail"`, a value, or Escalate."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Ask a person for yes or no."""

    prompt: Prompt
    timeout: Duration | None = None
    on_timeout: OnTimeout = "wait"
    assignees: Assignees = None

    type: ClassVar[str] = "approval"
    options: ClassVar[None] = None
    other: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Choice:
    """Ask a person to pick one of the options; with `other`, any text is valid too."""

    prompt: Prompt
    options: Options
    other: bool = False
    timeout: Duration | None = None
    on_timeout: OnTimeout = "wait"
    assignees: Assignees = None

    type: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        _check(self)


Simple = Approval | Choice


@dataclass(frozen=True, slots=True)
class Rendered:
    """A question with everything evaluated, as `input:requested` records it."""

    type: str
    prompt: str
    options: list[str] | None = None
    other: bool = False
    timeout_ms: int | None = None
    on_timeout: TimeoutRule | None = None
    config: dict[str, Json] | None = None
    assignees: list[str] | None = None


def seconds(duration: Duration) -> float:
    """A duration, given in seconds or as a timedelta, in seconds."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


def millis(duration: Duration) -> int:
    """A duration in milliseconds, as the wire and the tables hold it."""
    return round(seconds(duration) * 1000)


def checked_options(options: object) -> list[str]:
    """The options of a choice: at least one, without duplicates."""
    if isinstance(options, str) or not isinstance(options, Sequence) or not options:
        raise AnswerInvalid("A choice needs options: a list of at least one text.")
    listed = [str(option) for option in cast("Sequence[object]", options)]
    if len(set(listed)) < len(listed):
        raise AnswerInvalid(f"The options of a choice must be different: {', '.join(listed)}.")
    return listed


def policy(question: Simple, on_timeout: OnTimeout) -> TimeoutRule:
    """What happens at the deadline, as data for the log."""
    match on_timeout:
        case Escalate():
            to = [on_timeout.to] if isinstance(on_timeout.to, str) else list(on_timeout.to)
            after = None if on_timeout.after is None else millis(on_timeout.after)
            then = policy(question, on_timeout.then)
            return {"action": "escalate", "to": to, "afterMs": after, "then": then}
        case "wait" | "fail":
            return {"action": on_timeout}
        case "approve" | True if question.type == "approval":
            return {"action": "answer", "value": "yes", "approved": True}
        case "reject" | False if question.type == "approval":
            return {"action": "answer", "value": "no", "approved": False}
        case _:
            return {"action": "answer", "value": on_timeout}


def _check(question: Simple) -> None:
    name = type(question).__name__
    if isinstance(question.prompt, str) and not question.prompt.strip():
        raise DefinitionError(f"{name} needs a prompt: what should the person decide?")
    if question.timeout is not None and seconds(question.timeout) <= 0:
        raise DefinitionError(f"{name}: timeout must be more than 0 seconds.")
    if question.timeout is None and question.on_timeout != "wait":
        raise DefinitionError(f"{name}: on_timeout needs a timeout. Add timeout=seconds.")
    if isinstance(question, Choice) and not callable(question.options):
        try:
            checked_options(question.options)
        except AnswerInvalid as error:
            raise DefinitionError(f"Choice {question.prompt!r}: {error.message}") from None
    check_defined(name, question.assignees)
    _check_policy(question, question.on_timeout)


def check_defined(name: str, assignees: Assignees) -> None:
    """Refuse assignees that no question could have."""
    if not callable(assignees):
        try:
            checked_assignees(assignees)
        except ValidationError as error:
            raise DefinitionError(f"{name}: {error.message}") from error


def render_assignees(assignees: Assignees, state: object) -> list[str] | None:
    """Evaluate on the state who may answer."""
    return checked_assignees(assignees(state) if callable(assignees) else assignees)


def _check_policy(question: Simple, on_timeout: OnTimeout) -> None:
    if isinstance(on_timeout, Escalate):
        if not on_timeout.to:
            raise DefinitionError("Escalate needs someone to escalate to: Escalate(to=...).")
        if on_timeout.after is None and on_timeout.then != "wait":
            raise DefinitionError("Escalate(then=...) needs after=seconds.")
        return _check_policy(question, on_timeout.then)
    if on_timeout in ("wait", "fail"):
        return None
    if question.type == "approval":
        if on_timeout not in ("approve", "reject", True, False):
            raise DefinitionError(
                f"Approval: on_timeout={on_timeout!r} is not known. Use "
                '"wait", "approve", "reject", "fail" or Escalate(...).'
            )
        return None
    options = question.options
    if not callable(options) and options and not question.other and on_timeout not in options:
        raise DefinitionError(
            f"Choice: on_timeout={on_timeout!r} is not one of the options. Use one of them, "
            '"wait", "fail" or Escalate(...).'
        )
    return None
