"""The result of an interactive session, for its caller."""

from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar, cast

from callboard.errors import ResponseInvalid
from callboard.events.json_values import Object, as_object, is_mapping
from callboard.interactions.configs import participants
from callboard.interactions.outcomes import VERDICTS, Completion, form_of
from callboard.interactions.records import Interaction

T = TypeVar("T")
Outcome = Literal["completed", "cancelled", "timeout", "failed"]

_EARLY: Final = ("cancelled", "timeout", "failed")


@dataclass(frozen=True, slots=True)
class InteractiveSessionResult(Generic[T]):
    """How an interactive session ended, and the decision.

    Args:
        outcome: `completed`, `cancelled`, `timeout` or `failed`. Only the first has a decision.
        response: The decision: `approved` or `rejected`, the option, the text, or the object;
            with `required_participants`, an object with each person's.
        transcript: The conversation, if it was captured.
        duration: How long it took, in seconds.
        error: Why it failed.
        approved: Whether it was approved, with several people by all of them; None if that
            was not the question, or if there was no decision.
    """

    outcome: Outcome
    response: T | None = None
    transcript: str | None = None
    duration: float = 0.0
    error: str | None = None
    approved: bool | None = None


def completion_of(config: Object | None, said: object) -> Completion:
    """The end that a person's answer means: a decision, or a result that says how it ended.

    If the question is an approval, yes or no decides it.
    """
    if isinstance(said, InteractiveSessionResult):
        ended = cast("InteractiveSessionResult[object]", said)
        took = round(ended.duration * 1000) or None
        return Completion(ended.outcome, ended.response, ended.transcript, took, ended.error)
    if isinstance(said, bool) and form_of((config or {}).get("outcomeSchema")) == "approval":
        said = "approved" if said else "rejected"
    return Completion("completed", said)


def result_of(ended: Interaction, result_type: object = None) -> InteractiveSessionResult[object]:
    """The result of a closed question; ResponseInvalid if it doesn't fit the type."""
    early = ended.status in _EARLY
    return InteractiveSessionResult(
        outcome=cast("Outcome", ended.status) if early else "completed",
        response=ended.response if early else _typed(ended, result_type),
        transcript=ended.transcript,
        duration=(ended.duration_ms or 0) / 1000,
        error=ended.error,
        approved=None if early else verdict_of(ended),
    )


def verdict_of(ended: Interaction) -> bool | None:
    """Whether a completed session approved, if the question was an approval."""
    config: Object = ended.config or {}
    schema = config.get("outcomeSchema")
    if schema is not None and as_object(schema).get("type") != "approval":
        return None
    response: object = ended.response
    told = list(response.values()) if participants(config) and is_mapping(response) else [response]
    verdicts = [VERDICTS.get(word) if isinstance(word, str) else None for word in told]
    return None if None in verdicts else all(verdicts)


def _typed(ended: Interaction, result_type: object) -> object:
    if result_type is None:
        return ended.response
    from pydantic import TypeAdapter
    from pydantic import ValidationError as Misfit

    # The type is a value here, read from the caller's own code.
    declared = cast("type[object]", result_type)
    wanted = dict[str, declared] if participants(ended.config) else declared
    try:
        return TypeAdapter[object](wanted).validate_python(ended.response)
    except Misfit as error:
        raise ResponseInvalid(
            f"The response to {ended.id} does not match result_type: {error}",
            interaction_id=ended.id,
        ) from error
