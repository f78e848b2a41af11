"""An answer to a question becomes its event, or a refusal that says why."""

from collections.abc import Mapping
from typing import Any

from callboard.errors import AlreadyAnswered, InteractionClosed, InteractionNotFound
from callboard.interactions.answers import check
from callboard.interactions.records import Interaction
from callboard.state.session import SessionView
from callboard.state.visits import Asked

RAN_OUT = "ran out before it was answered"

_CLOSED = {
    "expired": RAN_OUT,
    "failed": RAN_OUT,
    "cancelled": "was cancelled",
}


def answer_payload(
    view: SessionView, question: str, value: Any, approved: bool | None, who: Mapping[str, str]
) -> dict[str, Any]:
    """The payload of `input:received`; raises when the question cannot take this answer."""
    asked = view.questions.get(question)
    if asked is None:
        raise gone(question, view.session_id) if view.ended else unknown(question)
    if asked.status == "answered":
        raise already(question, asked.value)
    if asked.status != "pending":
        raise closed(question, _CLOSED[asked.status])
    return received_payload(asked, value, approved, who)


def received_payload(
    asked: Asked | Interaction, value: Any, approved: bool | None, who: Mapping[str, str]
) -> dict[str, Any]:
    """The payload of `input:received` for a question that is open; AnswerInvalid if wrong."""
    answer = check(asked, value, approved, asked.config)
    payload: dict[str, Any] = {"id": asked.id, "value": answer.value}
    if answer.whole:
        payload["outcome"] = "completed"
    if answer.approved is not None:
        payload["approved"] = answer.approved
    if answer.status is not None:
        payload["status"] = answer.status
    if answer.message is not None:
        payload["message"] = answer.message
    return payload | dict(who)


def accepted_payload(received: dict[str, Any]) -> dict[str, Any]:
    """The payload of `input:accepted`: the answer, before the agent's own dialog confirms it."""
    told = {"id": received["id"], "response": received["value"]}
    return told | {key: received[key] for key in ("by", "as", "via") if key in received}


def unknown(question: str) -> InteractionNotFound:
    """The error for an id that no question has."""
    return InteractionNotFound(
        f"There is no question {question!r}. See what is open with: callboard inbox",
        interaction_id=question,
    )


def already(question: str, value: Any, *, awaited: bool = True) -> AlreadyAnswered:
    """The error for a second answer; `awaited` by a workflow, it can be given in a fork."""
    again = "fork the session" if awaited else "ask again"
    return AlreadyAnswered(
        f"Question {question} has been answered already: {value!r}. The first answer counts; "
        f"to decide again, {again}.",
        interaction_id=question,
    )


def closed(question: str, how: str) -> InteractionClosed:
    """The error for a question that ended without an answer."""
    return InteractionClosed(f"Question {question} {how}.", interaction_id=question)


def gone(question: str, session: str) -> InteractionClosed:
    """The error for a question whose session is over."""
    return closed(question, f"belongs to session {session}, which has ended")
