"""Approving and declining: the words for yes and no, and the message that goes with a no."""

from collections.abc import Mapping
from reprlib import repr as shortened

from callboard.errors import AnswerInvalid, ValidationError
from callboard.events.json_values import Object, as_object, is_list, is_mapping, objects
from callboard.interactions.edited_input import EDITED, edited_input
from callboard.interactions.fields import checked_text
from callboard.interactions.kinds import KINDS, Answers, Remark, RulingResponse, manner_of
from callboard.interactions.outcomes import Completion, form_of
from callboard.interactions.records import Interaction

_YES = frozenset({"yes", "y", "true", "approve", "approved"})
_NO = frozenset({"no", "n", "false", "reject", "rejected"})
_LONGEST = max(map(len, _YES | _NO))
_ALWAYS = "always"


def said(value: object) -> bool | None:
    """Whether the value says yes or no; None if neither."""
    if value is None or isinstance(value, bool):
        return value
    word = value.strip() if isinstance(value, str) else ""
    # A long text isn't one of the words, and is slow to lowercase.
    word = word.lower() if len(word) <= _LONGEST else ""
    if word in _YES:
        return True
    return False if word in _NO else None


def agreed(value: object, approved: bool | None) -> bool:
    """Whether it is approved, from the value and from `approved`. They must agree."""
    meant = said(value)
    if meant is None and value is not None:
        raise AnswerInvalid(
            f"{shortened(value)} is not yes or no. Answer yes or no.", field="value"
        )
    if approved is None and meant is None:
        raise AnswerInvalid("An approval needs an answer: yes or no.", field="value")
    if approved is not None and meant is not None and meant != approved:
        raise AnswerInvalid(
            f"value {shortened(value)} contradicts approved={str(approved).lower()}. Send one of "
            "them.",
            field="value",
        )
    return bool(meant if approved is None else approved)


def ruling(
    remark: Remark, value: object, approved: bool | None, config: Object | None = None
) -> RulingResponse:
    """The response to a permission or plan: yes or no, with an optional message to the agent.

    value: yes or no; or the message, if `approved` is given; or an object with both.
    `always: true` with a yes creates the rule that the agent proposed. A message goes only with
    a no: agents don't get one with a yes, so it would be lost. `updatedInput` with a yes is what
    the tool runs with instead; the question's config says whether the agent supports that.
    """
    edited = value.get(EDITED) if is_mapping(value) else None
    if edited is None:
        return _checked(remark, _told(remark, value, approved))
    rest = {key: one for key, one in as_object(value).items() if key != EDITED}
    response = _checked(remark, _told(remark, rest, approved))
    if not response["approved"] or _ALWAYS in response:
        raise AnswerInvalid(
            f"value.{EDITED} needs a yes without {_ALWAYS}: a rule is for what the agent asked.",
            field=f"value.{EDITED}",
        )
    told = edited_input(config, edited)
    if told is not None:
        response[EDITED] = told
    return response


def approval(value: object, approved: bool | None) -> RulingResponse:
    """Yes or no to a workflow's question, with an optional message for a no."""
    if not is_mapping(value):
        return {"approved": agreed(value, approved)}
    response = _from_object("message", value, approved)
    if _ALWAYS in response:
        raise AnswerInvalid(
            f"value.{_ALWAYS} is only for requests of coding agents. Remove it.", field="value"
        )
    return _checked("message", response)


def _checked(remark: Remark, response: RulingResponse) -> RulingResponse:
    if response["approved"] and remark in response:
        raise AnswerInvalid(
            f"{remark} is only sent with a no.",
            field=f"value.{remark}",
        )
    return response


def _told(remark: Remark, value: object, approved: bool | None) -> RulingResponse:
    if is_mapping(value):
        return _from_object(remark, value, approved)
    if said(value) is None and value is not None and approved is not None:
        response: RulingResponse = {"approved": approved}
        response[remark] = checked_text(value, "value")
        return response
    return {"approved": agreed(value, approved)}


def _from_object(remark: Remark, told: Object, approved: bool | None) -> RulingResponse:
    if unknown := [key for key in told if key not in ("approved", remark, _ALWAYS)]:
        raise AnswerInvalid(
            f"value.{unknown[0]} is not known here. Use approved, {remark} and {_ALWAYS}.",
            field="value",
        )
    verdict = told.get("approved")
    if verdict is not None and not isinstance(verdict, bool):
        raise AnswerInvalid("value.approved must be true or false.", field="value")
    response: RulingResponse = {"approved": agreed(verdict, approved)}
    if told.get(remark) is not None:
        response[remark] = checked_text(told[remark], f"value.{remark}")
    always = told.get(_ALWAYS, False)
    if not isinstance(always, bool) or (always and not response["approved"]):
        raise AnswerInvalid(f"value.{_ALWAYS} needs a yes.", field="value")
    if always:
        response["always"] = True
    return response


def answers(
    config: Object | None, value: object, approved: bool | None = None
) -> RulingResponse | Answers:
    """The response to several questions: a label each, or more where that is allowed.

    value: `{"answers": {question: label}}`, or that inner object, or, if there is only one
    question, its label or labels. Free text is valid too. `{"approved": false, "message": …}`
    declines all of them together.
    """
    # No answer is `false`, so this can only mean declining.
    if approved is False or as_object(value).get("approved") is False:
        return _told("message", value, approved)
    questions = _questions(config)
    told = _by_question(questions, value)
    checked: dict[str, str | list[str]] = {}
    for text, question in questions.items():
        if text not in told:
            raise AnswerInvalid(f"There is no answer to {text!r}.", field="value")
        checked[text] = _answer(text, question, told[text])
    if unknown := [text for text in told if text not in checked]:
        asked = ", ".join(repr(text) for text in checked)
        raise AnswerInvalid(f"{unknown[0]!r} is not one of the questions: {asked}.", field="value")
    return {"answers": checked}


def _questions(config: Object | None) -> dict[str, Object]:
    """The questions by their text."""
    asked = objects((config or {}).get("questions"))
    return {text: one for one in asked if isinstance(text := one.get("question"), str)}


def _by_question(questions: Mapping[str, Object], value: object) -> Object:
    if is_mapping(value):
        inner = value.get("answers") if list(value) == ["answers"] else None
        return inner if is_mapping(inner) else value
    if len(questions) == 1:
        return dict.fromkeys(questions, value)
    raise AnswerInvalid(
        f"There are {len(questions)} questions. Answer with an object: question to label.",
        field="value",
    )


def _answer(text: str, question: Object, given: object) -> str | list[str]:
    """An offered label, several of them, or the person's own text."""
    if not is_list(given):
        return checked_text(given, "value")
    if not question.get("multiSelect") or not given:
        raise AnswerInvalid(f"{text!r} takes one answer, not a list.", field="value")
    return [checked_text(one, "value") for one in given]


def declined(asked: Interaction, message: str | None) -> RulingResponse | Completion:
    """What declines the question: an answer, or the end of an interactive session.

    A choice or text that a workflow waits for can't be declined, because the workflow would have no
    value to continue with. The ValidationError says what to do instead.
    """
    match manner_of(asked.type):
        case "verdict" | "ruling" | "answers":
            return refusal(asked.type, message)
        case "outcome":
            config: Object = asked.config or {}
            how = "rejected" if form_of(config.get("outcomeSchema")) == "approval" else "cancelled"
            return Completion(how, error=message)
        case _ if asked.awaited:
            raise _needed(asked)
        case _:
            return Completion("cancelled", error=message)


def refusal(type: str, message: str | None) -> RulingResponse:
    """A no to a question of this type, with the reason, if given."""
    response: RulingResponse = {"approved": False}
    if message is not None:
        response[KINDS[type].remark] = message
    return response


def _needed(asked: Interaction) -> ValidationError:
    instead = "Answer in your own words" if asked.other or not asked.options else "Choose one"
    return ValidationError(
        f"Question {asked.id} cannot be declined: its workflow needs an answer to continue. "
        f"{instead}, or end the session: callboard cancel {asked.session_id}",
        interaction_id=asked.id,
        session_id=asked.session_id,
    )
