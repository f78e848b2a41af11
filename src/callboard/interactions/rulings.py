"""Yes, no and answers, each with the message that may go with a no."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from callboard.errors import AnswerInvalid
from callboard.interactions.fields import as_json, as_text
from callboard.interactions.verdicts import agreed, said

_ALWAYS = "always"


def ruling(remark: str, value: Any, approved: bool | None) -> dict[str, Any]:
    """The response to a permission or a plan: yes or no, and perhaps a message to the agent.

    value: yes or no; or, where `approved` says that, the message; or an object with both.
    `always: true` beside a yes makes a rule of it, as the agent itself proposed. A message goes
    only with a no: agents do not get one with a yes, and it would be lost.
    """
    return _checked(remark, _told(remark, value, approved))


def approval(value: Any, approved: bool | None) -> dict[str, Any]:
    """Yes or no to a workflow's question, and perhaps a message with a no."""
    if not isinstance(value, Mapping):
        return {"approved": agreed(value, approved)}
    response = _from_object("message", cast("Mapping[str, Any]", value), approved)
    if _ALWAYS in response:
        raise AnswerInvalid(
            f"value.{_ALWAYS} is for what coding agents ask. Leave it out.", field="value"
        )
    return _checked("message", response)


def _checked(remark: str, response: dict[str, Any]) -> dict[str, Any]:
    if response["approved"] and remark in response:
        raise AnswerInvalid(
            f"{remark} goes only with a no: nothing would read it with a yes.",
            field=f"value.{remark}",
        )
    return response


def _told(remark: str, value: Any, approved: bool | None) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return _from_object(remark, cast("Mapping[str, Any]", value), approved)
    if said(value) is None and value is not None and approved is not None:
        return {"approved": approved, remark: as_text(value, "value")}
    return {"approved": agreed(value, approved)}


def _from_object(remark: str, told: Mapping[str, Any], approved: bool | None) -> dict[str, Any]:
    if unknown := [key for key in told if key not in ("approved", remark, _ALWAYS)]:
        raise AnswerInvalid(
            f"value.{unknown[0]} is not known here. Use approved, {remark} and {_ALWAYS}.",
            field="value",
        )
    verdict = told.get("approved")
    if verdict is not None and not isinstance(verdict, bool):
        raise AnswerInvalid("value.approved must be true or false.", field="value")
    response: dict[str, Any] = {"approved": agreed(verdict, approved)}
    if told.get(remark) is not None:
        response[remark] = as_text(told[remark], f"value.{remark}")
    always = told.get(_ALWAYS, False)
    if not isinstance(always, bool) or (always and not response["approved"]):
        raise AnswerInvalid(f"value.{_ALWAYS} goes only with a yes.", field="value")
    return response | ({_ALWAYS: True} if always else {})


def answers(config: Any, value: Any, approved: bool | None = None) -> dict[str, Any]:
    """The response to questions: for each of them a label, or several where that is allowed.

    value: `{"answers": {question: label}}`, or that object itself, or, where there is only one
    question, the label or labels. A text of one's own is an answer too. All of them are declined
    together, by `{"approved": false, "message": …}`.
    """
    if _declines(value, approved):
        return _told("message", value, approved)
    questions = _questions(config)
    told = _by_question(questions, value)
    checked: dict[str, Any] = {}
    for question in questions:
        text = question["question"]
        if text not in told:
            raise AnswerInvalid(f"There is no answer to {text!r}.", field="value")
        checked[text] = _answer(question, told[text])
    if unknown := [text for text in told if text not in checked]:
        asked = ", ".join(repr(text) for text in checked)
        raise AnswerInvalid(f"{unknown[0]!r} was not asked. Asked: {asked}.", field="value")
    return {"answers": checked}


def _declines(value: Any, approved: bool | None) -> bool:
    """Whether all questions are declined: no answer is `false`, so nothing else can be meant."""
    if approved is False:
        return True
    return isinstance(value, Mapping) and cast("Mapping[str, Any]", value).get("approved") is False


def _questions(config: Any) -> Sequence[Mapping[str, Any]]:
    told = cast("Mapping[str, Any]", config or {})
    return [one for one in told.get("questions", []) if isinstance(one.get("question"), str)]


def _by_question(questions: Sequence[Mapping[str, Any]], value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        told = cast("Mapping[str, Any]", value)
        inner = told.get("answers") if list(told) == ["answers"] else None
        return cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else told
    if len(questions) == 1:
        return {questions[0]["question"]: value}
    raise AnswerInvalid(
        f"There are {len(questions)} questions. Answer with an object: question to label.",
        field="value",
    )


def _answer(question: Mapping[str, Any], given: Any) -> Any:
    """A label that was offered, several of them, or a text of the person's own."""
    if isinstance(given, list):
        several = cast("list[Any]", given)
        if not question.get("multiSelect") or not several:
            raise AnswerInvalid(
                f"{question['question']!r} takes one answer, not a list.", field="value"
            )
        return [as_text(one, "value") for one in several]
    return as_json(as_text(given, "value"), "value")
