"""How an interactive session ends: the possible outcomes, and which responses are valid."""

from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, as_text
from callboard.events.payloads.people import (
    Answered,
    InputReceivedPayload,
    LeftQuestion,
    QuestionEnd,
)
from callboard.interactions.fields import as_json, checked_text, checked_texts
from callboard.interactions.schema.schemas import SchemaCheck

Form = Literal["approval", "selection", "freeform", "structured"]
"""The kind of decision, in a word."""

FORMS: Final[tuple[Form, ...]] = get_args(Form)
VERDICTS: Final = {"approved": True, "rejected": False}

DECIDED: Final = ("completed", "approved", "rejected")
"""The outcomes of a session with a decision."""
OUTCOMES: Final = (*DECIDED, "cancelled", "timeout", "failed")
_NO_REASON: Final = "Session failed"
_SCHEMA = "config.outcomeSchema"


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of an interactive session, as the harness reports it."""

    outcome: str
    response: object = None
    transcript: str | None = None
    duration_ms: int | None = None
    error: str | None = None
    reason: str = "the session was left"
    """Why it was cancelled."""


class AskedSession(Protocol):
    """What an end needs to know about its question."""

    @property
    def id(self) -> str:
        """The question's id."""
        ...

    @property
    def config(self) -> Object | None:
        """The question's config."""
        ...


def check_outcome(outcome: str) -> None:
    """Refuse an unknown outcome."""
    if outcome not in OUTCOMES:
        known = ", ".join(OUTCOMES)
        raise ValidationError(f"{outcome!r} is not an outcome. Use {known}.", field="outcome")


def check_of_config(config: Object | None) -> SchemaCheck | None:
    """The check that a question's outcome schema is usable."""
    schema = (config or {}).get("outcomeSchema")
    return None if schema is None else SchemaCheck(json_schema_of(schema), _SCHEMA)


def check_of_event(config: Object | None, event: Entry) -> SchemaCheck | None:
    """The check that the response in a session's final event is valid."""
    name, payload = event
    schema = (config or {}).get("outcomeSchema")
    if schema is None or name != names.RECEIVED:
        return None
    return SchemaCheck(json_schema_of(schema), "response", (payload["value"],))


def completion_event(asked: AskedSession, given: Completion, who: Answered) -> Entry:
    """The event that ends the session.

    The caller has to check the response against the schema: see `check_of_event`.
    """
    check_outcome(given.outcome)
    if given.outcome in DECIDED:
        return names.RECEIVED(decision(asked, given, who))
    return left(asked, given, who)


def decision(asked: AskedSession, given: Completion, who: Answered) -> InputReceivedPayload:
    """The payload of `input:received` for a session with a decision."""
    value, verdict = _response(given, (asked.config or {}).get("outcomeSchema"))
    payload: InputReceivedPayload = {**_end(asked, given, who), "value": value}
    if verdict is not None:
        payload["approved"] = verdict
    if given.error is not None:
        payload["error"] = checked_text(given.error, "error")
    return payload


def left(
    asked: AskedSession, given: Completion, who: Answered, so_far: Object | None = None
) -> Entry:
    """The event that ends a session without a decision; `so_far`: what others decided."""
    if given.response is not None:
        raise ValidationError(
            f"A session that ended {given.outcome!r} has no response. Remove it, or use completed.",
            field="response",
        )
    end: LeftQuestion = {**_end(asked, given, who)}
    if so_far:
        end["value"] = so_far
    if given.error is not None:
        end["error"] = checked_text(given.error, "error")
    match given.outcome:
        case "cancelled":
            return names.INPUT_CANCELLED({**end, "reason": given.reason})
        case "timeout":
            return names.EXPIRED({**end, "timedOut": True})
        case _:
            return names.INPUT_FAILED({**end, "error": end.get("error", _NO_REASON)})


def _end(asked: AskedSession, given: Completion, who: Answered) -> QuestionEnd:
    end: QuestionEnd = {**who, "id": asked.id, "outcome": given.outcome}
    if given.duration_ms is not None:
        end["durationMs"] = _duration(given.duration_ms)
    # Conversations are stored only if requested.
    keeps = (asked.config or {}).get("captureTranscript") is True
    if given.transcript is not None and keeps:
        end["transcript"] = str(as_json(given.transcript, "transcript"))
    return end


def _response(given: Completion, schema: object) -> tuple[Json, bool | None]:
    """The response and whether it is approved; either decides an approval."""
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
    return response, verdict


def _duration(millis: object) -> int:
    if not isinstance(millis, int) or isinstance(millis, bool) or not 0 <= millis < 2**53:
        raise ValidationError("durationMs must be a number from 0.", field="durationMs")
    return millis


def form_of(schema: object) -> Form | None:
    """The name of a simple outcome, for callers who don't need a JSON Schema."""
    word = as_text(as_object(schema).get("type"))
    return word if word in FORMS else None


def json_schema_of(schema: Json) -> Json:
    """The JSON Schema for a response."""
    match form_of(schema):
        case "approval":
            return {"enum": list(VERDICTS)}
        case "selection":
            return {"enum": checked_texts(as_object(schema).get("options"), f"{_SCHEMA}.options")}
        case "freeform":
            return {"type": "string"}
        case "structured":
            return as_object(schema).get("jsonSchema") or {"type": "object"}
        case _:
            return schema
