"""What happened to a coding agent's question, and the event that records it.

Such a question can be decided in two places: here, and in the agent's own dialog. An answer given
here is accepted first. Only the client's behavior shows whether it counted, so an outcome always
comes from evidence: the tool ran, or the client's files say what happened. Later evidence wins and
corrects the record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NotRequired

from callboard.events import names
from callboard.events.authors import Author, authored
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, is_mapping
from callboard.events.payloads.people import Answered, InputReceivedPayload, Receipt
from callboard.events.payloads.plates import OutcomeKind
from callboard.events.payloads.workflow import Authored
from callboard.interactions.edited_input import edited_of, original_input
from callboard.interactions.evidenced import TERMINAL, Outcome
from callboard.interactions.kinds import KINDS, Answers, RulingResponse, joined
from callboard.interactions.records import Interaction
from callboard.interactions.rulings import refusal


@dataclass(frozen=True, slots=True)
class _Record:
    status: str
    response: Object | None
    via: str | None
    receipt: Receipt | None


class _Settled(Answered):
    id: str
    receipt: NotRequired[Receipt | None]


def settle(id: str, type: str, asked: Interaction | None, outcome: Outcome) -> Entry | None:
    """The event that records an outcome; None if it is already recorded.

    asked: the current question; None if it was asked in the same report.
    """
    is_open = asked is None or asked.status == "pending"
    accepted = asked is not None and asked.accepted is not None
    if outcome.kind == "unknown" and (accepted or not is_open):
        return None  # There has to be evidence first.
    record = _record(type, asked, outcome)
    if not is_open and asked is not None:
        known = _Record(asked.status, asked.response, asked.via, asked.receipt)
        if known == record:
            return None
    payload: _Settled = {**_told(id, record), **_answerer(asked if accepted else None)}
    if not is_open:
        return names.CORRECTED(
            {
                **payload,
                "status": record.status,
                "response": record.response,
                "source": outcome.source,
            }
        )
    if record.response is None:
        return names.INPUT_CANCELLED({**payload, "reason": _REASONS[outcome.kind]})
    received: InputReceivedPayload = {
        **payload,
        "value": record.response,
        "outcome": "completed",
    }
    verdict = record.response.get("approved")
    if isinstance(verdict, bool):
        received["approved"] = verdict
    return names.RECEIVED(received)


_REASONS: Final[Mapping[OutcomeKind, str]] = {
    "allowed": "answered in the terminal",
    "denied": "declined in the terminal",
    "dismissed": "dismissed in the terminal",
    "presumed": "dismissed in the terminal",
    "unknown": "dismissed in the terminal",
    "lost": "the agent stopped waiting before it had the answer",
}


def _record(type: str, asked: Interaction | None, outcome: Outcome) -> _Record:
    receipt: Receipt | None = None
    if asked is not None and asked.accepted is not None:
        if agrees(type, asked.accepted, outcome) and not _ran_original(asked, outcome):
            # An answer that was considered overruled before has `terminal` there.
            own = "board" if asked.via == TERMINAL else asked.via
            via = outcome.via if outcome.via == TERMINAL else own
            return _Record("completed", asked.accepted, via, "delivered")
        receipt = "lost" if outcome.kind == "lost" else "overruled"
    response = _response(type, outcome)
    status = "cancelled" if response is None else "completed"
    return _Record(status, response, outcome.via or TERMINAL, receipt)


def agrees(type: str, accepted: Object, outcome: Outcome) -> bool:
    """Whether the outcome is what was answered, including message and rule."""
    in_terminal = outcome.via == TERMINAL
    match outcome.kind:
        case "presumed":
            return True
        case "allowed" if type == "question":
            given, told = accepted.get("answers"), outcome.answers
            return is_mapping(given) and (told is None or joined(given) == joined(told))
        case "allowed":
            says_more = accepted.get("always") is True or edited_of(accepted) is not None
            return accepted.get("approved") is True and not (in_terminal and says_more)
        case "denied":
            message = accepted.get(KINDS[type].remark)
            reached = not in_terminal or message == outcome.message
            return accepted.get("approved") is False and reached
        case _:
            return False


def _ran_original(asked: Interaction, outcome: Outcome) -> bool:
    """Whether the tool ran as the agent wanted, although the answer has an edited input.

    Only what was edited tells: the client may add to the input or leave some of it out.
    """
    edited = edited_of(asked.accepted)
    if edited is None or outcome.ran is None:
        return False
    ran, original = as_object(outcome.ran), as_object(original_input(asked.config))
    changed = [
        key
        for key in {**original, **edited}
        if (key in edited, edited.get(key)) != (key in original, original.get(key))
    ]
    return all(
        (key in ran, ran.get(key)) == (key in original, original.get(key)) for key in changed
    )


def _response(type: str, outcome: Outcome) -> RulingResponse | Answers | None:
    match outcome.kind:
        case "allowed" if type == "question":
            return {"answers": dict(outcome.answers)} if outcome.answers else None
        case "allowed":
            return {"approved": True}
        case "denied":
            return refusal(type, outcome.message)
        case _:
            return None


def _told(id: str, record: _Record) -> _Settled:
    told: _Settled = {"id": id}
    if record.via is not None:
        told["via"] = record.via
    # Another hook may have decided. Without a receipt, an answer counts as delivered.
    if record.receipt is not None or record.via != TERMINAL:
        told["receipt"] = record.receipt
    return told


def _answerer(asked: Interaction | None) -> Authored:
    if asked is None or asked.answered_by is None:
        return {}
    return authored(Author(asked.answered_by, asked.answered_as))
