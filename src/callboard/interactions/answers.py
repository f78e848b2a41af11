"""Which answers fit which question: the one check that every way of answering goes through."""

from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, Protocol

from callboard.errors import AnswerInvalid
from callboard.interactions.fields import as_json
from callboard.interactions.kinds import KINDS, manner_of
from callboard.interactions.rulings import answers, approval, ruling


class Answerable(Protocol):
    """What the check has to know of a question."""

    @property
    def type(self) -> str:
        """One of `KINDS`."""
        ...

    @property
    def options(self) -> Sequence[str] | None:
        """What can be chosen."""
        ...

    @property
    def other(self) -> bool:
        """Whether any text will do."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the form in which it is recorded.

    `status` is how the question then stands, where that is not simply `completed`.
    `message` is why a workflow's question was answered with no.
    `whole`: the value is the response itself, and not one part of it.
    """

    value: Any
    approved: bool | None = None
    status: str | None = None
    whole: bool = False
    message: str | None = None


def check(
    question: Answerable, value: Any = None, approved: bool | None = None, config: Any = None
) -> Answer:
    """The answer as it will be recorded, or AnswerInvalid saying what would fit.

    config: what was said with the question, where an answer is to be checked against that.
    """
    if approved is not None and not isinstance(approved, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise AnswerInvalid("approved must be true or false.", field="approved")
    match manner_of(question.type):
        case "option":
            return _choice(question, value)
        case "text":
            return _text(value)
        case "verdict":
            return _approval(question.type, value, approved)
        case "ruling":
            return _ruling(question.type, value, approved)
        case "answers":
            response = answers(config, value, approved)
            return Answer(response, response.get("approved"), whole=True)
        case "outcome":
            raise AnswerInvalid(
                f"A question of type {question.type} takes no answer. Complete it, with an "
                "outcome and a response.",
                field="value",
            )


def _approval(type: str, value: Any, approved: bool | None) -> Answer:
    response = approval(value, approved)
    verdict = response["approved"]
    status = ("approved" if verdict else "rejected") if KINDS[type].status_tells else None
    return Answer("yes" if verdict else "no", verdict, status, message=response.get("message"))


def _ruling(type: str, value: Any, approved: bool | None) -> Answer:
    response = ruling(KINDS[type].remark, value, approved)
    return Answer(response, response["approved"], whole=True)


def _choice(question: Answerable, value: Any) -> Answer:
    options = list(question.options or [])
    if isinstance(value, str) and value in options:
        return Answer(value)
    if question.other and isinstance(value, str) and value.strip():
        return _text(value)
    offered = ", ".join(repr(option) for option in options)
    more = ", or any text" if question.other else ""
    raise AnswerInvalid(
        f"{shortened(value)} was not offered. Choose one of {offered}{more}.",
        field="value",
        offered=offered,
    )


def _text(value: Any) -> Answer:
    if not isinstance(value, str):
        raise AnswerInvalid(f"{value!r} is no text. Answer with a text.", field="value")
    return Answer(as_json(value, "value"))
