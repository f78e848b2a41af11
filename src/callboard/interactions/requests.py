"""Checked requests to the inbox: ask a question, claim it, end it together with others."""

from callboard.errors import AlreadyAnswered, Claimed, ValidationError
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.moments import iso
from callboard.events.payloads.people import (
    Answered,
    AskedQuestion,
    InputClaimedPayload,
    InputReceivedPayload,
)
from callboard.interactions.assignment import checked_assignees
from callboard.interactions.configs import (
    KIND,
    checked_config,
    checked_object,
    complete_config,
    participants,
)
from callboard.interactions.fields import checked_text, checked_texts
from callboard.interactions.kinds import KINDS
from callboard.interactions.outcomes import (
    DECIDED,
    VERDICTS,
    Completion,
    completion_event,
    decision,
    left,
)
from callboard.interactions.records import LONGEST_MS, Interaction


def request_payload(
    type: str,
    prompt: str,
    options: object = None,
    config: object = None,
    assignees: object = None,
) -> AskedQuestion:
    """The question's part of `input:requested`; a ValidationError names the wrong field."""
    kind = KINDS.get(type)
    if kind is None or kind.from_board:
        known = ", ".join(name for name, one in KINDS.items() if not one.from_board)
        raise ValidationError(f"{type!r} is not a type of question. Use {known}.", field="type")
    payload: AskedQuestion = {"prompt": checked_text(prompt, "prompt"), "type": type}
    if kind.manner == "option":
        payload["options"] = checked_texts(options, "options")
    elif options is not None:
        raise ValidationError(
            f"{type!r} takes no options. Remove them, or ask a choice.",
            field="options",
        )
    if type == KIND:
        payload["config"] = complete_config(checked_config(config or {}))
    elif config is not None:
        payload["config"] = checked_object(config, "config")
    if (restricted := checked_assignees(assignees)) is not None:
        payload["assignees"] = restricted
    return payload


def claim_payload(asked: Interaction, by: str, ttl_ms: int, now_ms: int) -> InputClaimedPayload:
    """The payload of `input:claimed`; Claimed if someone else holds the question."""
    check_free(asked, by)
    if not isinstance(ttl_ms, int) or isinstance(ttl_ms, bool) or not 1 <= ttl_ms <= LONGEST_MS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValidationError(
            f"ttlMs must be a number from 1 to {LONGEST_MS} (a day).", field="ttlMs"
        )
    return {"id": asked.id, "by": checked_text(by, "by"), "until": now_ms + ttl_ms}


def check_free(asked: Interaction, by: str) -> None:
    """Raise Claimed if someone else holds the question."""
    if asked.claimed_by is None or asked.claimed_by == by or asked.claimed_until is None:
        return
    until = iso(asked.claimed_until)
    raise Claimed(
        f"{asked.claimed_by} is working on question {asked.id} until {until}. Wait until then, or "
        "answer it anyway: the first answer counts.",
        interaction_id=asked.id,
        claimed_by=asked.claimed_by,
        claimed_until=until,
    )


def ending(asked: Interaction, given: Completion, by: str | None, who: Answered) -> Entry:
    """The event for one person's end of the session."""
    required = participants(asked.config)
    if not required:
        return completion_event(asked, given, who)
    so_far: dict[str, Json] = asked.response or {}
    if given.outcome not in DECIDED:
        return left(asked, given, who, so_far)
    payload = decision(asked, given, who)
    person = _participant(asked, required, so_far, by)
    return _decided(asked, payload, {**so_far, person: payload["value"]}, required)


def _participant(
    asked: Interaction, required: list[str], so_far: dict[str, Json], by: str | None
) -> str:
    if by not in required:
        raise ValidationError(
            f"{by!r} is not one of the required participants: {', '.join(required)}. "
            "Pass one of them as by.",
            field="by",
        )
    if by in so_far:
        missing = ", ".join(name for name in required if name not in so_far)
        raise AlreadyAnswered(
            f"{by} has already decided question {asked.id}. Still waiting for {missing}.",
            interaction_id=asked.id,
        )
    return by


def _decided(
    asked: Interaction,
    payload: InputReceivedPayload,
    decisions: dict[str, Json],
    required: list[str],
) -> Entry:
    """Record one more decision; the last of them closes the question."""
    _add_earlier(asked, payload)
    if len(decisions) < len(required):
        return names.CONTRIBUTED({**payload, "responses": decisions})
    payload["value"] = decisions
    if payload.pop("approved", None) is not None:
        told = [VERDICTS.get(one) if isinstance(one, str) else None for one in decisions.values()]
        if None not in told:
            payload["approved"] = all(told)
    return names.RECEIVED(payload)


def _add_earlier(asked: Interaction, payload: InputReceivedPayload) -> None:
    """Add the time that the others took, and what they said."""
    if asked.duration_ms is not None:
        payload["durationMs"] = asked.duration_ms + payload.get("durationMs", 0)
    if asked.transcript is not None:
        said = (asked.transcript, payload.get("transcript"))
        payload["transcript"] = "\n\n".join(text for text in said if text)
