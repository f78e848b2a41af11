"""The types of questions, and how each is answered. Add a new type to this table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NotRequired, TypedDict

from callboard.events.envelope import Json
from callboard.events.json_values import Object, is_list

InteractionType = Literal[
    "approval", "choice", "confirmation", "select", "input", "interactive_session",
    "permission", "question", "plan",
]  # fmt: skip
InteractionStatus = Literal[
    "pending", "completed", "cancelled", "timeout", "failed", "approved", "rejected"
]

Manner = Literal["verdict", "option", "text", "outcome", "ruling", "answers"]
"""Yes or no; one of the options; any text; no answer, but an end to something longer; yes or no
with a message to the coding agent that asks; or answers to several questions at once.
"""

Remark = Literal["message", "feedback"]


class RulingResponse(TypedDict):
    """Yes or no, with a message for a no, or a rule for the future with a yes."""

    approved: bool
    message: NotRequired[str]
    feedback: NotRequired[str]
    always: NotRequired[bool]
    updatedInput: NotRequired[Mapping[str, Json]]
    """What the person lets the tool run with instead. The question has the original."""


class Answers(TypedDict):
    """The answer to each question."""

    answers: Mapping[str, Json]


class VerdictResponse(TypedDict):
    """The answer to an approval or a confirmation, or its default after the deadline."""

    value: NotRequired[Literal["yes", "no"]]
    approved: NotRequired[bool]
    message: NotRequired[str]
    """Why it was rejected."""
    timedOut: NotRequired[bool]


class ChoiceResponse(TypedDict):
    """The chosen option or text, or the default after the deadline."""

    value: NotRequired[str]
    timedOut: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """How a type of question is answered.

    status_tells: the row's status also has the answer (`approved`, `rejected`), not only the
        response. Only confirmations do this, because they are older than responses.
    from_board: only a coding agent asks it, through a hook.
    remark: the name of the message to the agent.
    response: the type of its responses.
    """

    manner: Manner
    response: object
    status_tells: bool = False
    from_board: bool = False
    remark: Remark = "message"


KINDS: Final[Mapping[str, QuestionKind]] = {
    "approval": QuestionKind("verdict", VerdictResponse),
    "choice": QuestionKind("option", ChoiceResponse),
    "confirmation": QuestionKind("verdict", VerdictResponse, status_tells=True),
    "select": QuestionKind("option", ChoiceResponse),
    "input": QuestionKind("text", ChoiceResponse),
    "interactive_session": QuestionKind("outcome", object),
    "permission": QuestionKind("ruling", RulingResponse, from_board=True),
    "plan": QuestionKind("ruling", RulingResponse, from_board=True, remark="feedback"),
    "question": QuestionKind("answers", Answers | RulingResponse, from_board=True),
}


RESPONSES: Final[Mapping[str, object]] = {type: kind.response for type, kind in KINDS.items()}
"""The response type of each type of question."""

WHOLE: Final[frozenset[Manner]] = frozenset({"outcome", "ruling", "answers"})
"""Manners in which the answer is the whole response, not one part of it."""


def is_from_board(type: str) -> bool:
    """Whether only coding agents ask such questions."""
    kind = KINDS.get(type)
    return kind is not None and kind.from_board


def manner_of(type: str) -> Manner:
    """How a type is answered; unknown types can only be completed."""
    kind = KINDS.get(type)
    return kind.manner if kind else "outcome"


def joined(answers: Object) -> dict[str, str]:
    """Answers as a client has them: several labels joined into one text."""
    return {
        question: ", ".join(map(str, answer)) if is_list(answer) else str(answer)
        for question, answer in answers.items()
    }
