"""How an interactive session ended, as its caller sees it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, cast

from callboard.errors import ResponseInvalid
from callboard.interactions.configs import participants
from callboard.interactions.outcomes import VERDICTS, Completion, form_of
from callboard.interactions.records import Interaction

T = TypeVar("T")
Outcome = Literal["completed", "cancelled", "timeout", "failed"]

_EARLY: Final = ("cancelled", "timeout", "failed")


@dataclass(frozen=True, slots=True)
class InteractiveSessionResult(Generic[T]):
    """How an interactive session ended, and what was decided.

    Args:
        outcome: `completed`, `cancelled`, `timeout` or `failed`. Only the first has a decision.
        response: The decision: `approved` or `rejected`, the option, the text, or the object;
            with `required_participants` an object with each one's.
        transcript: What was said, if that was to be kept.
        duration: How long it took, in seconds.
        error: Why it failed.
        approved: Whether it was approved, of several people by all of them; None when that was
            not the question, or when there was no decision.
    """

    outcome: Outcome
    response: T | None = None
    transcript: str | None = None
    duration: float = 0.0
    error: str | None = None
    approved: bool | None = None


def completion_of(config: Mapping[str, Any] | None, said: Any) -> Completion:
    """The end that somebody's words make: a decision, or a result that says how it ended.

    A yes or no is a verdict, where that was the question.
    """
    if isinstance(said, InteractiveSessionResult):
        ended = cast("InteractiveSessionResult[Any]", said)
        took = round(ended.duration * 1000) or None
        return Completion(ended.outcome, ended.response, ended.transcript, took, ended.error)
    if isinstance(said, bool) and form_of((config or {}).get("outcomeSchema")) == "approval":
        said = "approved" if said else "rejected"
    return Completion("completed", said)


def result_of(ended: Interaction, result_type: Any = None) -> InteractiveSessionResult[Any]:
    """The result of a question that is closed; ResponseInvalid for one that does not fit."""
    early = ended.status in _EARLY
    return InteractiveSessionResult(
        outcome=cast("Outcome", ended.status) if early else "completed",
        response=ended.response if early else _typed(ended, result_type),
        transcript=ended.transcript,
        duration=(ended.duration_ms or 0) / 1000,
        error=_text(ended.error),
        approved=None if early else verdict_of(ended),
    )


def verdict_of(ended: Interaction) -> bool | None:
    """Whether a completed session approved, where yes or no was the question."""
    config = cast("Mapping[str, Any]", ended.config or {})
    schema = cast("Mapping[str, Any] | None", config.get("outcomeSchema"))
    if schema is not None and schema.get("type") != "approval":
        return None
    told: list[Any] = [ended.response]
    if participants(config) and isinstance(ended.response, Mapping):
        told = list(cast("Mapping[str, Any]", ended.response).values())
    verdicts = [VERDICTS.get(word) if isinstance(word, str) else None for word in told]
    return None if None in verdicts else all(verdicts)


def _typed(ended: Interaction, result_type: Any) -> Any:
    if result_type is None:
        return ended.response
    from pydantic import TypeAdapter
    from pydantic import ValidationError as Misfit

    wanted = dict[str, result_type] if participants(ended.config) else result_type
    try:
        return TypeAdapter[Any](wanted).validate_python(ended.response)
    except Misfit as error:
        raise ResponseInvalid(
            f"The response to {ended.id} does not fit result_type: {error}",
            interaction_id=ended.id,
        ) from error


def _text(error: Any) -> str | None:
    if isinstance(error, Mapping):
        return str(cast("Mapping[str, Any]", error).get("message", error))
    return None if error is None else str(error)
