"""A person's answer as Claude Code wants to hear it from a hook that was held."""

from collections.abc import Mapping
from typing import Any, Final

from callboard.interactions.records import Interaction
from callboard.vendors.fields import Object, as_list, as_object, objects, text

NO_DECISION: Final[Mapping[str, Any]] = {}
_REFUSED: Final = "A person said no to this on the board."
_NOT_APPROVED: Final = "A person did not approve this plan on the board."


def decision(asked: Interaction) -> dict[str, Any]:
    """What the hook prints: allow, deny, or nothing, and then the terminal's dialog decides.

    Only an answer that somebody gave here decides anything.
    """
    if asked.status != "completed" or asked.via == "terminal":
        return dict(NO_DECISION)
    config, response = as_object(asked.config), as_object(asked.response)
    match asked.type:
        case "permission":
            return _ruled(response, _permitted(config, response), "message", _REFUSED)
        case "plan":
            # Without an input the client takes no yes to a plan; what is in it does not matter.
            return _ruled(response, {"updatedInput": {}}, "feedback", _NOT_APPROVED)
        case "question":
            return _answered(config, response)
        case _:
            return dict(NO_DECISION)


def output(**verdict: Any) -> dict[str, Any]:
    """A verdict on a permission request, as a hook prints it."""
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": dict(verdict)}}


def _ruled(
    response: Object, granted: Mapping[str, Any], remark: str, otherwise: str
) -> dict[str, Any]:
    approved = response.get("approved")
    if approved is True:
        return output(behavior="allow", **granted)
    if approved is False:
        said = text(response.get(remark)) or otherwise
        return output(behavior="deny", message=said, interrupt=False)
    return dict(NO_DECISION)


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
    return output(behavior="allow", updatedInput={**given, "answers": answers})


def _in_one(answer: Any) -> str:
    """The client knows an answer as one text; several labels stand there side by side."""
    if isinstance(answer, list):
        return ", ".join(str(label) for label in as_list(answer))
    return str(answer)
