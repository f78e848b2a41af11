"""Translates opencode's events into the board's terms.

Our plugin sends each as `{type, properties, directory, callboard}`, and adds what only it knows:

parent: the session that a subagent's session works for. Its own id then names the subagent.
error: on `session.idle`, why the turn before failed; opencode reports that in an earlier event.
interrupted: on `session.idle`, that a person stopped the turn.

`tool.execute.before`, `tool.execute.after` and `chat.message` are calls of the plugin, not events:
their `properties` are `{sessionID, tool, callID, args}` and `{sessionID, prompt}`.
`session.resumed` is the plugin's own event for a session that existed before.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_list, as_object, is_list, objects
from callboard.events.payloads.plates import PermissionResolvedPayload, ToolUseDetails
from callboard.vendors.fields import LONGEST_PATH, LONGEST_WORD, json_value, present, text, word
from callboard.vendors.hooks import (
    Reading,
    always,
    call_named,
    dialog,
    failed_turn,
    heard,
    of_subagent,
    prompted,
    todo_list,
    within,
)
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import HookRequest, Report
from callboard.vendors.requests import ASKS, LONGEST_INPUT
from callboard.vendors.requests import request as permission

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

NAME: Final = "opencode"
_UNNAMED: Final = ("New session - ", "Child session - ")
_STOPPED: Final = "MessageAbortedError"
_TOOLS: Final[Mapping[str, tuple[str, str]]] = {
    "bash": ("Bash", "command"),
    "edit": ("Edit", "file_path"),
    "write": ("Write", "file_path"),
    "read": ("Read", "file_path"),
    "webfetch": ("WebFetch", "url"),
}
"""Its tools, with the board's names for them, and what they are about."""


def translate(payload: Json) -> Report | None:
    """The report in an event; None if it belongs to no session."""
    told = as_object(payload)
    kind = word(told.get("type")) or "unknown"
    properties = as_object(told.get("properties"))
    own = _session(kind, properties)
    if own is None:
        return None
    parent = word(told.get("parent")) or word(as_object(properties.get("info")).get("parentID"))
    read = _READINGS.get(kind)
    signals = (read(told) if read is not None else ()) or (heard(kind),)
    if parent is not None:
        # The start and end of a subagent's session are the subagent's.
        renamed = (one._replace(name=_IN_SUBAGENT.get(one.name, one.name)) for one in signals)
        signals = within(tuple(renamed), own)
    report = Report(
        NAME,
        parent or own,
        signals,
        told,
        project_path=word(told.get("directory"), LONGEST_PATH),
        model=word(as_object(properties.get("model")).get("modelID")),
        name=None if parent else _title(properties),
        request=_asked_by(_request(kind, properties, told), None if parent is None else own),
    )
    return with_sender(report, told)


def _session(kind: str, properties: Object) -> str | None:
    info, part = as_object(properties.get("info")), as_object(properties.get("part"))
    places = [properties.get("sessionID"), info.get("sessionID"), part.get("sessionID")]
    if kind.startswith("session."):
        places.append(info.get("id"))
    return next((id for place in places if (id := word(place)) is not None), None)


_IN_SUBAGENT: Final[Mapping[str, str]] = {
    plates.SESSION_START: plates.SUBAGENT_START,
    plates.STOP: plates.SUBAGENT_STOP,
    plates.STOP_FAILURE: plates.SUBAGENT_STOP,
    plates.SESSION_END: plates.SUBAGENT_STOP,
}


def _title(properties: Object) -> str | None:
    title = text(as_object(properties.get("info")).get("title"), LONGEST_WORD)
    return None if title is None or title.startswith(_UNNAMED) else title


# ---------------------------------------------------------------------- readings


def _started(payload: Object) -> tuple[Entry, ...]:
    return plates.SESSION_START({"source": str(payload["type"])}), plates.TURN_IDLE({})


def _status(payload: Object) -> tuple[Entry, ...]:
    status = as_object(as_object(payload.get("properties")).get("status")).get("type")
    if status == "idle":
        return _idle(payload)
    if status in ("busy", "retry"):
        # It continues. Another event says whether someone wrote a prompt.
        return (plates.PROMPT_SUBMIT({"origin": "status"}),)
    return ()


def _idle(payload: Object) -> tuple[Entry, ...]:
    if payload.get("interrupted") is True:
        return (plates.TURN_IDLE({"interrupted": True}),)
    error = text(payload.get("error"))
    return (plates.STOP({} if error is None else {"error": error}),)


def _failed(payload: Object) -> tuple[Entry, ...]:
    error = as_object(as_object(payload.get("properties")).get("error"))
    kind = word(error.get("name"))
    if kind == _STOPPED:
        return (plates.TURN_IDLE({"interrupted": True}),)
    return (failed_turn(kind, text(as_object(error.get("data")).get("message"))),)


def _prompted(payload: Object) -> tuple[Entry, ...]:
    return (prompted(text(as_object(payload.get("properties")).get("prompt"))),)


def _tool_start(payload: Object) -> tuple[Entry, ...]:
    return (plates.TOOL_START({**_tool(as_object(payload.get("properties")))}),)


def _tool_call(payload: Object) -> tuple[Entry, ...]:
    properties = as_object(payload.get("properties"))
    details = _tool(properties)
    if details.get("toolName") != "todowrite":
        return (plates.TOOL_CALL({**details}),)
    listed = as_object(properties.get("args")).get("todos")
    return (plates.TOOL_CALL({**details, **todo_list(listed, "content")}),)


def _tool(properties: Object) -> ToolUseDetails:
    details = call_named(properties.get("tool"), properties.get("callID"))
    details["toolInput"] = json_value(properties.get("args"))
    return details


def _todos_updated(payload: Object) -> tuple[Entry, ...]:
    told = todo_list(as_object(payload.get("properties")).get("todos"), "content")
    return (plates.HOOK_HEARD({"hook": "todo.updated", **told}),)


def _asked(payload: Object) -> tuple[Entry, ...]:
    kind, properties = str(payload.get("type")), as_object(payload.get("properties"))
    request = _request(kind, properties, payload)
    if request is None:
        return ()
    tool = ASKS if request.type == "question" else word(request.config.get("toolName"))
    return (dialog(tool, request.prompt, word(properties.get("id"))),)


def _replied(payload: Object) -> tuple[Entry, ...]:
    properties = as_object(payload.get("properties"))
    call = word(properties.get("requestID")) or word(properties.get("permissionID"))
    reply = properties.get("reply", properties.get("response"))
    details: PermissionResolvedPayload = {} if call is None else {"call": call}
    if isinstance(reply, str):
        details["approved"] = reply != "reject"
    return (plates.PERMISSION_RESOLVED(details),)


# ---------------------------------------------------------------------- questions to people


def _request(kind: str, properties: Object, payload: Object) -> HookRequest | None:
    cwd = word(payload.get("directory"), LONGEST_PATH)
    shared = present(requestId=word(properties.get("id")), cwd=cwd)
    if kind in ("permission.asked", "permission.updated"):
        return _permission(properties, shared)
    if kind == "question.asked":
        return _question(properties, shared)
    return None


def _asked_by(asked: HookRequest | None, subagent: str | None) -> HookRequest | None:
    return None if asked is None else of_subagent(asked, subagent, None)


def _permission(properties: Object, shared: Object) -> HookRequest:
    own = word(properties.get("permission")) or word(properties.get("type")) or ""
    tool, subject = _TOOLS.get(own, (own, "pattern"))
    metadata = as_object(json_value(properties.get("metadata")))
    about = _about(properties, metadata, subject)
    asked = permission(tool, {**metadata, **present(**{subject: about})}, None)
    always = (word(one) for one in as_list(properties.get("always")))
    rules = [{"pattern": rule} for rule in always if rule is not None]
    return replace(asked, config={**asked.config, **shared, **present(suggestions=rules or None)})


def _about(properties: Object, metadata: Object, subject: str) -> str | None:
    """What a permission is about: a command, a file, a URL."""
    given = [metadata.get(key) for key in (subject, "filepath", "filePath")]
    given += [*as_list(properties.get("patterns")), properties.get("pattern")]
    return next((one for each in given if (one := text(each, LONGEST_INPUT)) is not None), None)


def _question(properties: Object, shared: Object) -> HookRequest:
    """As Claude Code would ask it; only the key for multiple answers differs."""
    listed = [
        {**question, "multiSelect": question.get("multiple") is True}
        for question in map(as_object, as_list(json_value(properties.get("questions"))))
    ]
    asked = permission(ASKS, {"questions": listed}, None)
    return replace(asked, config={**asked.config, **shared})


_READINGS: Final[Mapping[str, Reading]] = {
    "session.created": _started,
    "session.resumed": _started,
    "session.deleted": always(plates.SESSION_END({"reason": "deleted"})),
    "session.status": _status,
    "session.idle": _idle,
    "session.error": _failed,
    "session.compacted": always(plates.COMPACT({})),
    "chat.message": _prompted,
    "tool.execute.before": _tool_start,
    "tool.execute.after": _tool_call,
    "todo.updated": _todos_updated,
    "permission.asked": _asked,
    "permission.updated": _asked,
    "permission.replied": _replied,
    "question.asked": _asked,
    "question.replied": _replied,
    "question.rejected": _replied,
}


def decision(asked: "Interaction") -> dict[str, Json]:
    """What the plugin sends to its server: a reply to the request, or nothing.

    `{requestID, reply, message?}` for a permission; for a question `{requestID, answers}`, or
    `{requestID, reject: true}` if it was declined.
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


def _reply(response: Object) -> dict[str, Json]:
    match response.get("approved"):
        case True:
            return {"reply": "always" if response.get("always") is True else "once"}
        case False:
            return {"reply": "reject", **present(message=text(response.get("message")))}
        case _:
            return {}


def _answers(config: Object, response: Object) -> dict[str, Json]:
    """The labels for each question, in the order asked.

    A question that couldn't be shown to a person has its place too, without labels.
    """
    told = as_object(response.get("answers"))
    asked = [question.get("question") for question in objects(config.get("questions"))]
    given = objects(as_object(config.get("toolInput")).get("questions"))
    places = [question.get("question") for question in given] or asked
    if response.get("approved") is False:
        return _declined(len(places), text(response.get("message")))
    if not asked or any(question not in told for question in asked):
        return {}
    return {"answers": [_labels(told[str(one)]) if one in asked else [] for one in places]}


def _declined(questions: int, message: str | None) -> dict[str, Json]:
    """A rejection can't have a message in opencode, so a message is sent as the answer."""
    if message is None or not questions:
        return {"reject": True}
    return {"answers": [[f"Declined: {message}"]] * questions}


def _labels(answer: Json) -> list[str]:
    return [str(one) for one in (answer if is_list(answer) else [answer])]
