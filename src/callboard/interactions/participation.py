"""The end of an interactive session, also where several people have to decide.

Each of them ends a session of their own. The question is closed when all have, and its response
holds what each of them decided. Whoever leaves without a decision ends it for all.
"""

from typing import Any, cast

from callboard.errors import AlreadyAnswered, ValidationError
from callboard.events import names
from callboard.interactions.configs import participants
from callboard.interactions.outcomes import VERDICTS, Completion, completion_event
from callboard.interactions.records import Interaction


def ending(asked: Interaction, given: Completion, by: str | None) -> tuple[str, dict[str, Any]]:
    """The event, as name and payload, for somebody's end of the session."""
    name, payload = completion_event(asked, given)
    required = participants(asked.config)
    if not required:
        return name, payload
    so_far = cast("dict[str, Any]", asked.response or {})
    if name != names.RECEIVED:
        return name, payload | ({"value": so_far} if so_far else {})
    person = _participant(asked, required, so_far, by)
    return _decided(asked, payload, {**so_far, person: payload["value"]}, required)


def _participant(
    asked: Interaction, required: list[str], so_far: dict[str, Any], by: str | None
) -> str:
    if by not in required:
        raise ValidationError(
            f"{by!r} is none of those who have to decide: {', '.join(required)}. "
            "Say who decides with by.",
            field="by",
        )
    if by in so_far:
        missing = ", ".join(name for name in required if name not in so_far)
        raise AlreadyAnswered(
            f"{by} has decided question {asked.id} already. It waits for {missing}.",
            interaction_id=asked.id,
        )
    return by


def _decided(
    asked: Interaction, payload: dict[str, Any], decisions: dict[str, Any], required: list[str]
) -> tuple[str, dict[str, Any]]:
    """One more has decided; with the last of them the question is closed."""
    whole = payload | _together(asked, payload)
    if len(decisions) < len(required):
        return names.CONTRIBUTED, whole | {"responses": decisions}
    if whole.pop("approved", None) is not None:
        told = [VERDICTS.get(one) if isinstance(one, str) else None for one in decisions.values()]
        if None not in told:
            whole["approved"] = all(told)
    return names.RECEIVED, whole | {"value": decisions}


def _together(asked: Interaction, payload: dict[str, Any]) -> dict[str, Any]:
    """What all of them took and said, those before included."""
    told: dict[str, Any] = {}
    if asked.duration_ms is not None:
        told["durationMs"] = asked.duration_ms + payload.get("durationMs", 0)
    if asked.transcript is not None:
        told["transcript"] = "\n\n".join(
            text for text in (asked.transcript, payload.get("transcript")) if text
        )
    return told
