"""A person's answer as Claude Code wants to hear it from a hook that was held."""

from collections.abc import Mapping
from typing import Any, Final

from callboard.interactions.records import Interaction
from callboard.vendors.fields import Object, as_list, as_object, objects, text

NO_DECISION: Final[Mapping[str, Any]] = {}
_REFUSED: Final = "A person said no to this on the board."
_NOT_APPROVED: Final = "A person did not approve this plan on the board."
_DECLINED: Final = "A person declined to answer this on the board."


def decision(asked: Interaction) -> dict[str, Any]:
    """What the hook prints: allow, deny, or nothing, and then the terminal's dialog decides.

    Only an answer that somebody gave here decides anything.
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
            return dict(NO_DECISION)


def verdict(response: Object, granted: Object, denied: Object) -> dict[str, Any]:
    """Allow or deny, with what goes with each; nothing where neither was said."""
    match response.get("approved"):
        case True:
            return _output(behavior="allow", **granted)
        case False:
            return _output(behavior="deny", **denied)
        case _:
            return dict(NO_DECISION)


def refusal(response: Object, remark: str = "message", otherwise: str = _REFUSED) -> str:
    """What the agent hears with a no: the person's word, or who said it."""
    return text(response.get(remark)) or otherwise


def _output(**decision: Any) -> dict[str, Any]:
    """A decision on a permission request, as a hook prints it."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def _denied(message: str) -> dict[str, Any]:
    return {"message": message, "interrupt": False}


def _permitted(config: Object, response: Object) -> dict[str, Any]:
    """The rules that the client itself proposed, for a yes that is meant for good."""
    suggested = objects(config.get("suggestions"))
    if response.get("always") is not True or not suggested:
        return {}
    return {"updatedPermissions": suggested}


def _answered(config: Object, response: Object) -> dict[str, Any]:
    given = as_object(config.get("toolInput"))
    answers = {
        question: _in_one(answer) for question, answer in as_object(response.get("answers")).items()
    }
    if not answers or not given:
        return dict(NO_DECISION)
    return _output(behavior="allow", updatedInput={**given, "answers": answers})


def _in_one(answer: Any) -> str:
    """The client knows an answer as one text; several labels stand there side by side."""
    if isinstance(answer, list):
        return ", ".join(str(label) for label in as_list(answer))
    return str(answer)
