"""What became of an answer, in one sentence, and who gave it."""

from collections.abc import Mapping
from typing import Final

from callboard.display.lines import exact
from callboard.events.envelope import Json
from callboard.events.json_values import as_object, is_list
from callboard.interactions.answer_text import answer_text
from callboard.interactions.edited_input import EDITED
from callboard.interactions.excerpts import excerpt
from callboard.interactions.kinds import KINDS, is_from_board
from callboard.interactions.records import Interaction
from callboard.vendors.agents import VENDORS

_LONGEST: Final = 200
"""How many characters of an answer a sentence shows."""


def receipt(asked: Interaction, check: str) -> str:
    """What became of the answer to a coding agent. check: the command that shows it again."""
    match asked.receipt:
        case "pending":
            return f"Pending: {agent_of(asked)} has not confirmed it yet. Check with: {check}"
        case "delivered":
            return f"Delivered: {_done(asked)}."
        case "overruled":
            return f"Overruled: it was already decided in the terminal ({decided(asked.response)})."
        case "lost":
            return f"Lost: {agent_of(asked)} stopped before it got the answer."
        case None:
            return _unanswered(asked)


def standing(asked: Interaction) -> str:
    """What became of the answer, in a few words for a list; empty if unanswered."""
    if asked.receipt is None:
        return ""
    said = decided(asked.accepted if asked.accepted is not None else asked.response)
    match asked.receipt:
        case "pending":
            return f"answered ({said}), not confirmed yet"
        case "delivered":
            return f"answered ({said})"
        case "overruled":
            return f"answer ({said}) overruled in the terminal ({decided(asked.response)})"
        case "lost":
            return f"answer ({said}) lost: the agent stopped before it got it"


def ending(asked: Interaction) -> str:
    """How a question ended, no matter who asked it, in a few words."""
    told = asked.accepted if asked.accepted is not None else asked.response
    if is_from_board(asked.type):
        return decided(told)
    if told is None:
        return f"{asked.status}: {exact(str(asked.error))}" if asked.error else asked.status
    value = as_object(told).get("value", told)
    why = as_object(told).get("message")
    said = exact(answer_text(value))
    return excerpt(f"{said}: {exact(str(why))}" if why else said, _LONGEST)


def answerer(asked: Interaction) -> str:
    """`answered by admin (as "dana") via cli`; only the first name was verified."""
    who = answerer_name(asked)
    return f"answered by {who}" if who else ""


def answerer_name(asked: Interaction) -> str:
    """`admin (as "dana") via cli`; empty if unanswered."""
    if asked.answered_by is None:
        return ""
    given = f' (as "{exact(asked.answered_as)}")' if asked.answered_as else ""
    via = f" via {exact(asked.via)}" if asked.via else ""
    return f"{exact(asked.answered_by)}{given}{via}"


def decided(response: Json) -> str:
    """What was decided, in a few words."""
    told = as_object(response)
    if "answers" in told:
        answers = as_object(told["answers"]).values()
        return excerpt("; ".join(_label(answer) for answer in answers), _LONGEST)
    match told.get("approved"):
        case True if EDITED in told:
            return "allowed with edits"
        case True:
            return "always allowed" if told.get("always") is True else "allowed"
        case False:
            why = told.get("message") or told.get("feedback")
            return excerpt(f"denied: {exact(str(why))}", _LONGEST) if why else "denied"
        case _:
            return "dismissed"


def _label(answer: Json) -> str:
    labels = answer if is_list(answer) else [answer]
    return ", ".join(exact(str(label)) for label in labels)


def agent_of(asked: Interaction) -> str:
    """The name of the coding agent that asked."""
    vendor = VENDORS.get(str(as_object(asked.config).get("agent")))
    return vendor.title if vendor else "the agent"


def _done(asked: Interaction) -> str:
    """What the agent does with the answer."""
    response = as_object(asked.accepted if asked.accepted is not None else asked.response)
    agent, approved = agent_of(asked), response.get("approved")
    if approved is False:
        message = " and got your message" if response.get(_remark(asked)) else ""
        return f"{agent} was denied{message}"
    return f"{agent} {_GOES_ON.get(asked.type, 'has the answer')}"


_GOES_ON: Final[Mapping[str, str]] = {
    "permission": "is running it",
    "plan": "is following the plan",
    "question": "has your answer",
}


def _remark(asked: Interaction) -> str:
    kind = KINDS.get(asked.type)
    return kind.remark if kind else "message"


def _unanswered(asked: Interaction) -> str:
    if asked.status == "pending":
        return "Not answered yet."
    if asked.via == "terminal":
        return f"Decided in the terminal ({decided(asked.response)})."
    if asked.via == "hook":
        return f"Decided by another hook ({decided(asked.response)})."
    return f"Closed without an answer ({asked.status})."
