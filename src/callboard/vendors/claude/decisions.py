"""A person's answer as Claude Code wants to hear it from a hook that was held."""

from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, objects
from callboard.interactions.records import Interaction
from callboard.interactions.settlement import joined
from callboard.vendors.fields import text

_REFUSED: Final = "A person denied this on the board."
_NOT_APPROVED: Final = "A person did not approve this plan on the board."
_APPROVED_BEFORE: Final = (
    "Before the context was cleared, a person approved this plan. Unless they ask for something "
    "else, carry it out; do not plan again."
)
_DECLINED: Final = "A person declined to answer this on the board."


def decision(asked: Interaction) -> dict[str, Json]:
    """What the hook prints: allow, deny, or nothing, and then the terminal's dialog decides.

    Only an answer that someone gave here decides anything.
    """
    config, response = as_object(asked.config), as_object(asked.for_agent)
    match asked.type:
        case "permission":
            return verdict(response, _permitted(config, response), _denied(refusal(response)))
        case "plan":
            # Without an input the client takes no yes to a plan; what is in it does not matter.
            lacks = refusal(response, "feedback", _NOT_APPROVED)
            return verdict(response, {"updatedInput": {}}, _denied(lacks))
        case "question":
            if response.get("approved") is False:
                return verdict(response, {}, _denied(refusal(response, otherwise=_DECLINED)))
            return _answered(config, response)
        case _:
            return {}


def plan_again(plan: str) -> dict[str, Json]:
    """What the hook of a session that starts prints, to give the agent a plan back."""
    context = f"{_APPROVED_BEFORE}\n\n{plan}"
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}


def verdict(response: Object, granted: Object, denied: Object) -> dict[str, Json]:
    """Allow or deny, with what goes with each; nothing where neither was said."""
    match response.get("approved"):
        case True:
            return _output(behavior="allow", **granted)
        case False:
            return _output(behavior="deny", **denied)
        case _:
            return {}


def refusal(response: Object, remark: str = "message", otherwise: str = _REFUSED) -> str:
    """What the agent hears with a no: the person's word, or who said it."""
    return text(response.get(remark)) or otherwise


def _output(**decision: Json) -> dict[str, Json]:
    """A decision on a permission request, as a hook prints it."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def _denied(message: str) -> dict[str, Json]:
    return {"message": message, "interrupt": False}


def _permitted(config: Object, response: Object) -> dict[str, Json]:
    """The rules that the client itself proposed, for a yes that is meant permanently."""
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
