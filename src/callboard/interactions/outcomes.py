"""How an interactive session ends: which outcomes there are, and which responses fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from callboard.errors import ValidationError
from callboard.events import names
from callboard.interactions.fields import as_json, as_text, as_texts
from callboard.interactions.schemas import SchemaCheck

VERDICTS: Final = {"approved": True, "rejected": False}

_EVENTS: Final = {
    "completed": names.RECEIVED,
    "approved": names.RECEIVED,
    "rejected": names.RECEIVED,
    "cancelled": names.INPUT_CANCELLED,
    "timeout": names.EXPIRED,
    "failed": names.INPUT_FAILED,
}
_HOW: Final[Mapping[str, dict[str, Any]]] = {
    names.RECEIVED: {},
    names.INPUT_CANCELLED: {"reason": "the session was left"},
    names.EXPIRED: {"timedOut": True},
    names.INPUT_FAILED: {"error": "The session failed, and nobody said why."},
}
_SCHEMA = "config.outcomeSchema"


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of an interactive session, as whoever ran it tells it."""

    outcome: str
    response: Any = None
    transcript: str | None = None
    duration_ms: int | None = None
    error: str | None = None


class Asking(Protocol):
    """What an end has to know of the question that it ends."""

    @property
    def id(self) -> str:
        """The question."""
        ...

    @property
    def config(self) -> Mapping[str, Any] | None:
        """What was said with it."""
        ...


def check_outcome(outcome: str) -> None:
    """Refuse a word that is no outcome."""
    if outcome not in _EVENTS:
        known = ", ".join(_EVENTS)
        raise ValidationError(f"{outcome!r} is no outcome. Use {known}.", field="outcome")


def check_of_config(config: Mapping[str, Any] | None) -> SchemaCheck | None:
    """What to check of a question's config: whether its outcome could ever be checked."""
    schema = (config or {}).get("outcomeSchema")
    return None if schema is None else SchemaCheck(json_schema_of(schema), _SCHEMA)


def check_of_event(
    config: Mapping[str, Any] | None, event: tuple[str, dict[str, Any]]
) -> SchemaCheck | None:
    """What to check of the event by which a session ends: whether its response fits."""
    name, payload = event
    schema = (config or {}).get("outcomeSchema")
    if schema is None or name != names.RECEIVED:
        return None
    return SchemaCheck(json_schema_of(schema), "response", (payload["value"],))


def completion_event(asked: Asking, given: Completion) -> tuple[str, dict[str, Any]]:
    """The event, as name and payload, by which the session ends.

    Whether the response fits the schema is left to the caller: see `check_of_event`.
    """
    check_outcome(given.outcome)
    name = _EVENTS[given.outcome]
    config = cast("Mapping[str, Any]", asked.config or {})
    payload: dict[str, Any] = {"id": asked.id, "outcome": given.outcome}
    if name == names.RECEIVED:
        payload |= _response(given, config.get("outcomeSchema"))
    elif given.response is not None:
        raise ValidationError(
            f"A session that ended {given.outcome!r} has no response. Leave it out, or say "
            "completed.",
            field="response",
        )
    return name, payload | _HOW[name] | _circumstances(given, config)


def _response(given: Completion, schema: Any) -> dict[str, Any]:
    """What was decided; an approval is decided by the outcome, or by the response alone."""
    verdict = VERDICTS.get(given.outcome)
    response = as_json(given.response, "response")
    told = VERDICTS.get(response) if isinstance(response, str) else None
    if verdict is not None and told is not None and told != verdict:
        raise ValidationError(
            f"response {response!r} contradicts the outcome {given.outcome!r}. Send one of them.",
            field="response",
        )
    if verdict is not None and response is None:
        response = given.outcome
    if verdict is None and form_of(schema) == "approval":
        verdict = told
    return {"value": response, **({} if verdict is None else {"approved": verdict})}


def _circumstances(given: Completion, config: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if given.duration_ms is not None:
        told["durationMs"] = _duration(given.duration_ms)
    # People's words are kept only where it was asked for.
    if given.transcript is not None and config.get("captureTranscript") is True:
        told["transcript"] = as_json(given.transcript, "transcript")
    if given.error is not None:
        told["error"] = as_text(given.error, "error")
    return told


def _duration(millis: Any) -> int:
    if not isinstance(millis, int) or isinstance(millis, bool) or not 0 <= millis < 2**53:
        raise ValidationError("durationMs must be a number from 0.", field="durationMs")
    return millis


def form_of(schema: Any) -> str | None:
    """The word for a simple outcome, as callers who need no JSON Schema write it."""
    word = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    return word if word in ("approval", "selection", "freeform", "structured") else None


def json_schema_of(schema: Any) -> Any:
    """The JSON Schema that a response has to fit."""
    match form_of(schema):
        case "approval":
            return {"enum": list(VERDICTS)}
        case "selection":
            return {"enum": as_texts(schema.get("options"), f"{_SCHEMA}.options")}
        case "freeform":
            return {"type": "string"}
        case "structured":
            return schema.get("jsonSchema") or {"type": "object"}
        case _:
            return schema
