"""A person's answer as our plugin passes it on to opencode."""

from typing import Any

from callboard.interactions.records import Interaction
from callboard.vendors.fields import Object, as_list, as_object, objects, present, text


def decision(asked: Interaction) -> dict[str, Any]:
    """What the plugin sends to its server: a reply to the request, or nothing.

    `{requestID, reply, message?}` for a permission; for a question `{requestID, answers}`, or
    `{requestID, reject: true}` when it was declined.
    """
    config, response = as_object(asked.config), as_object(asked.for_agent)
    id = text(config.get("requestId"))
    if id is None:
        return {}
    match asked.type:
        case "permission":
            said = _reply(response)
        case "question":
            said = _answers(config, response)
        case _:
            said = {}
    return {"requestID": id, **said} if said else {}


def _reply(response: Object) -> dict[str, Any]:
    match response.get("approved"):
        case True:
            return {"reply": "always" if response.get("always") is True else "once"}
        case False:
            return {"reply": "reject", **present(message=text(response.get("message")))}
        case _:
            return {}


def _answers(config: Object, response: Object) -> dict[str, Any]:
    """For each question its labels, in the order in which they were asked."""
    told = as_object(response.get("answers"))
    asked = [question.get("question") for question in objects(config.get("questions"))]
    if response.get("approved") is False:
        return _declined(asked, text(response.get("message")))
    if not asked or any(question not in told for question in asked):
        return {}
    return {"answers": [_labels(told[str(question)]) for question in asked]}


def _declined(asked: list[Any], message: str | None) -> dict[str, Any]:
    """A rejection has no room for a message in opencode, so a message is sent as the answer."""
    if message is None or not asked:
        return {"reject": True}
    return {"answers": [[f"Declined: {message}"] for _ in asked]}


def _labels(answer: Any) -> list[str]:
    return [str(one) for one in (as_list(answer) if isinstance(answer, list) else [answer])]
