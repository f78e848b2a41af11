"""What became of a question that a coding agent asked, and the event that records it.

Such a question has two places where it can be decided: here, and in the agent's own dialog. An
answer given here is accepted first. Only the client's own behaviour shows whether it counted, so
an outcome always comes from evidence: the tool ran, or the client's files say what happened.
Later evidence wins: what was recorded before is corrected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from callboard.events import names
from callboard.interactions.kinds import KINDS
from callboard.interactions.records import Interaction, Receipt

OutcomeKind = Literal["allowed", "denied", "dismissed", "presumed", "unknown", "lost"]
"""allowed: the call ran, or the questions were answered. denied: the agent was told no.
dismissed: the dialog was left without a decision. presumed: the agent has our answer, and nothing
contradicts it. unknown: the dialog is gone, and nothing shows why. lost: the agent is gone, or it
stopped listening before it had our answer."""

TERMINAL: Final = "terminal"
"""`via` of what was decided in the agent's own dialog."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the client did about a request.

    via: where it was decided: `terminal`, or `hook` for a hook; None when that is not known.
    answers: what a question was answered with. message: what the person wrote beside a no.
    source: what shows it: `hook`, `transcript`, `registry`, or `silence`.
    """

    kind: OutcomeKind
    via: str | None = None
    answers: Mapping[str, Any] | None = None
    message: str | None = None
    source: str = "hook"


@dataclass(frozen=True, slots=True)
class _Record:
    status: str
    response: Any
    via: str | None
    receipt: Receipt | None


def settle(
    id: str, type: str, asked: Interaction | None, outcome: Outcome
) -> tuple[str, dict[str, Any]] | None:
    """The event that records an outcome; None when the record says so already.

    asked: the question as it stands; None when it was asked just now, in the same report.
    """
    is_open = asked is None or asked.status == "pending"
    accepted = asked is not None and asked.accepted is not None
    if outcome.kind == "unknown" and (accepted or not is_open):
        return None  # Something has to show it first.
    record = _record(type, asked, outcome)
    if not is_open and asked is not None and _is_recorded(asked, record):
        return None
    payload = {"id": id, **_told(record), **(_answerer(asked) if accepted else {})}
    if not is_open:
        told = {"status": record.status, "response": record.response, "source": outcome.source}
        return names.CORRECTED, payload | told
    if record.response is None:
        return names.INPUT_CANCELLED, payload | {"reason": _REASONS[outcome.kind]}
    verdict = record.response.get("approved")
    decided = {} if verdict is None else {"approved": verdict}
    return names.RECEIVED, payload | {"value": record.response, "outcome": "completed"} | decided


_REASONS: Final[Mapping[OutcomeKind, str]] = {
    "allowed": "answered in the terminal",
    "denied": "declined in the terminal",
    "dismissed": "dismissed in the terminal",
    "presumed": "dismissed in the terminal",
    "unknown": "dismissed in the terminal",
    "lost": "the agent stopped waiting before it had the answer",
}


def _record(type: str, asked: Interaction | None, outcome: Outcome) -> _Record:
    accepted = None if asked is None else asked.accepted
    if asked is None or accepted is None:
        response = _response(type, outcome)
        return _Record(_status(response), response, outcome.via or TERMINAL, None)
    if agrees(type, accepted, outcome):
        via = outcome.via if outcome.via == TERMINAL else _own_via(asked)
        return _Record("completed", accepted, via, "delivered")
    receipt: Receipt = "lost" if outcome.kind == "lost" else "overruled"
    response = _response(type, outcome)
    return _Record(_status(response), response, outcome.via or TERMINAL, receipt)


def agrees(type: str, accepted: Mapping[str, Any], outcome: Outcome) -> bool:
    """Whether what happened is what was answered: all of it, a message and a rule included."""
    in_terminal = outcome.via == TERMINAL
    match outcome.kind:
        case "presumed":
            return True
        case "allowed" if type == "question":
            given = accepted.get("answers")
            told = outcome.answers
            return given is not None and (told is None or _joined(given) == _joined(told))
        case "allowed":
            makes_rule = accepted.get("always") is True
            return accepted.get("approved") is True and not (in_terminal and makes_rule)
        case "denied":
            message = accepted.get(KINDS[type].remark)
            reached = not in_terminal or message == outcome.message
            return accepted.get("approved") is False and reached
        case _:
            return False


def _joined(answers: Mapping[str, Any]) -> dict[str, str]:
    """Answers as a client reports them: several labels stand in one text, side by side."""
    return {question: _in_one(answer) for question, answer in answers.items()}


def _in_one(answer: Any) -> str:
    if isinstance(answer, list):
        return ", ".join(str(label) for label in cast("list[Any]", answer))
    return str(answer)


def _response(type: str, outcome: Outcome) -> dict[str, Any] | None:
    match outcome.kind:
        case "allowed" if type == "question":
            return {"answers": dict(outcome.answers)} if outcome.answers else None
        case "allowed":
            return {"approved": True}
        case "denied":
            message = {} if outcome.message is None else {KINDS[type].remark: outcome.message}
            return {"approved": False, **message}
        case _:
            return None


def _status(response: Any) -> str:
    return "cancelled" if response is None else "completed"


def _own_via(asked: Interaction) -> str | None:
    # An answer that was taken for overruled before has the terminal's there.
    return "board" if asked.via == TERMINAL else asked.via


def _is_recorded(asked: Interaction, record: _Record) -> bool:
    known = _Record(asked.status, asked.response, asked.via, asked.receipt)
    return known == record


def _told(record: _Record) -> dict[str, Any]:
    told: dict[str, Any] = {} if record.via is None else {"via": record.via}
    # Another hook may have decided. Where nothing is said, an answer counts as delivered.
    if record.receipt is not None or record.via != TERMINAL:
        told["receipt"] = record.receipt
    return told


def _answerer(asked: Interaction | None) -> dict[str, Any]:
    if asked is None:
        return {}
    told = {"by": asked.answered_by, "as": asked.answered_as}
    return {key: value for key, value in told.items() if value is not None}
