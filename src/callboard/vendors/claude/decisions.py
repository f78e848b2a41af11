"""A person's answer in the format that Claude Code expects from a held hook."""

from typing import TYPE_CHECKING, Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, objects
from callboard.interactions.edited_input import EDITED, edited_of
from callboard.interactions.kinds import joined
from callboard.vendors.fields import text

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

_REFUSED: Final = "A person denied this on the board."
_NOT_APPROVED: Final = "A person did not approve this plan on the board."
_APPROVED_BEFORE: Final = (
    "Before the context was cleared, a person approved this plan. Unless they ask for something "
    "else, carry it out; do not plan again."
)
_DECLINED: Final = "A person declined to answer this on the board."


def decision(asked: "Interaction") -> dict[str, Json]:
    """What the hook prints: allow, deny, or nothing, in which case the terminal's dialog decides.

    Only an answer given here decides anything.
    """
    config, response = as_object(asked.config), as_object(asked.for_agent)
    match asked.type:
        case "permission":
            return verdict(response, _permitted(config, response), _denied(refusal(response)))
        case "plan":
            # Without an input, the client doesn't accept a yes to a plan. Its content doesn't
            # matter.
            lacks = refusal(response, "feedback", _NOT_APPROVED)
            return verdict(response, {"updatedInput": {}}, _denied(lacks))
        case "question":
            if response.get("approved") is False:
                return verdict(response, {}, _denied(refusal(response, otherwise=_DECLINED)))
            return _answered(config, response)
        case _:
            return {}


def plan_again(plan: str) -> dict[str, Json]:
    """What the hook of a starting session prints to return a plan to the agent."""
    context = f"{_APPROVED_BEFORE}\n\n{plan}"
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}


def verdict(response: Object, granted: Object, denied: Object) -> dict[str, Json]:
    """Allow or deny, with the matching details; nothing if neither was said."""
    match response.get("approved"):
        case True:
            return _output(behavior="allow", **granted)
        case False:
            return _output(behavior="deny", **denied)
        case _:
            return {}


def refusal(response: Object, remark: str = "message", otherwise: str = _REFUSED) -> str:
    """The message for a no: the person's own, or who said it."""
    return text(response.get(remark)) or otherwise


def _output(**decision: Json) -> dict[str, Json]:
    """A decision on a permission request, as a hook prints it."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def _denied(message: str) -> dict[str, Json]:
    return {"message": message, "interrupt": False}


def _permitted(config: Object, response: Object) -> dict[str, Json]:
    """The input that a person edited, or the rules that the client proposed, for a lasting yes."""
    if (edited := edited_of(response)) is not None:
        return {EDITED: edited}
    suggested = objects(config.get("suggestions"))
    if response.get("always") is not True or not suggested:
        return {}
    return {"updatedPermissions": suggested}


def _answered(config: Object, response: Object) -> dict[str, Json]:
    given = as_object(config.get("toolInput"))
    answers = joined(as_object(response.get("answers")))
    if not answers or not given:
        return {}
    return _output(behavior="allow", updatedInput={**given, "answers": answers})
