"""Which answers are valid for which question: the one check for every way of answering."""

from dataclasses import dataclass
from reprlib import repr as shortened

from callboard.errors import AnswerInvalid
from callboard.events.json_values import Object
from callboard.interactions.fields import as_json
from callboard.interactions.kinds import KINDS, manner_of
from callboard.interactions.records import Interaction
from callboard.interactions.rulings import answers, approval, ruling
from callboard.state.visits import Asked


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it is recorded.

    `status` is the question's status after it, if that isn't simply `completed`.
    `message` is why a workflow's question was rejected.
    `whole`: the value is the whole response, not one part of it.
    """

    value: object
    approved: bool | None = None
    status: str | None = None
    whole: bool = False
    message: str | None = None


def as_verdict(value: object) -> bool | None:
    """Yes or no, if given; AnswerInvalid for anything else."""
    if value is None or isinstance(value, bool):
        return value
    raise AnswerInvalid("approved must be true or false.", field="approved")


def check(
    question: Asked | Interaction,
    value: object = None,
    approved: bool | None = None,
    config: Object | None = None,
) -> Answer:
    """The answer as it will be recorded; AnswerInvalid says what is valid.

    config: the question's config, if its answers are checked against that.
    """
    approved = as_verdict(approved)
    match manner_of(question.type):
        case "option":
            return _choice(question, value)
        case "text":
            return _text(value)
        case "verdict":
            return _approval(question.type, value, approved)
        case "ruling":
            ruled = ruling(KINDS[question.type].remark, value, approved, config)
            return Answer(ruled, ruled["approved"], whole=True)
        case "answers":
            response = answers(config, value, approved)
            return Answer(response, response.get("approved"), whole=True)
        case "outcome":
            raise AnswerInvalid(
                f"A question of type {question.type} takes no answer. Complete it, with an "
                "outcome and a response.",
                field="value",
            )


def _approval(type: str, value: object, approved: bool | None) -> Answer:
    response = approval(value, approved)
    verdict = response["approved"]
    status = ("approved" if verdict else "rejected") if KINDS[type].status_tells else None
    return Answer("yes" if verdict else "no", verdict, status, message=response.get("message"))


def _choice(question: Asked | Interaction, value: object) -> Answer:
    options = list(question.options or [])
    if isinstance(value, str) and value in options:
        return Answer(value)
    if question.other and isinstance(value, str) and value.strip():
        return _text(value)
    offered = ", ".join(repr(option) for option in options)
    more = ", or enter any text" if question.other else ""
    raise AnswerInvalid(
        f"{shortened(value)} is not an option. Choose one of {offered}{more}.",
        field="value",
        offered=offered,
    )


def _text(value: object) -> Answer:
    if not isinstance(value, str):
        raise AnswerInvalid(f"{shortened(value)} is not text. Answer with text.", field="value")
    return Answer(as_json(value, "value"))
