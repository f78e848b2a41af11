"""opencode's events in the board's words.

Our plugin sends each as `{type, properties, directory, callboard}`, and adds what only it can know:

parent: the session that a subagent's session works for. Its own id then names the subagent.
error: on `session.idle`, why the turn before failed; opencode tells that in another event before.
interrupted: on `session.idle`, that a person stopped the turn.

`tool.execute.before`, `tool.execute.after` and `chat.message` are calls of the plugin, not events:
their `properties` are `{sessionID, tool, callID, args}` and `{sessionID, prompt}`.
`session.resumed` is the plugin's own word for a session that it meets and that was not created now.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.events import plates
from callboard.vendors.asking import ASKS, LONGEST_INPUT, questions_of
from callboard.vendors.asking import request as permission
from callboard.vendors.fields import (
    LONGEST_PATH,
    LONGEST_WORD,
    Object,
    as_list,
    as_object,
    json_value,
    objects,
    present,
    text,
    word,
)
from callboard.vendors.hooks import Reading, heard
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report, Request, Signal

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
"""Its tools by the names that the board knows how to word, and what they are about."""


def translate(payload: Any) -> Report | None:
    """What an event told; None for what belongs to no session."""
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
        signals = tuple(_within(signal, own) for signal in signals)
    report = Report(
        NAME,
        parent or own,
        signals,
        told,
        project_path=word(told.get("directory"), LONGEST_PATH),
        model=_model(properties),
        name=None if parent else _title(properties),
        request=_request(kind, properties, told),
    )
    return with_sender(report, told)


def _session(kind: str, properties: Object) -> str | None:
    info, part = as_object(properties.get("info")), as_object(properties.get("part"))
    places = [properties.get("sessionID"), info.get("sessionID"), part.get("sessionID")]
    if kind.startswith("session."):
        places.append(info.get("id"))
    return next((id for place in places if (id := word(place)) is not None), None)


def _within(signal: Signal, subagent: str) -> Signal:
    """What happens in a session of a subagent; that it starts and ends is the subagent's."""
    names = {
        plates.SESSION_START: plates.SUBAGENT_START,
        plates.STOP: plates.SUBAGENT_STOP,
        plates.STOP_FAILURE: plates.SUBAGENT_STOP,
        plates.SESSION_END: plates.SUBAGENT_STOP,
    }
    name = names.get(signal.name, signal.name)
    return Signal(name, {**signal.details, "subagent": subagent})


def _title(properties: Object) -> str | None:
    title = text(as_object(properties.get("info")).get("title"), LONGEST_WORD)
    return None if title is None or title.startswith(_UNNAMED) else title


def _model(properties: Object) -> str | None:
    return word(as_object(properties.get("model")).get("modelID"))


# ---------------------------------------------------------------------- readings


def _started(payload: Object) -> tuple[Signal, ...]:
    return Signal(plates.SESSION_START, {"source": str(payload["type"])}), Signal(plates.TURN_IDLE)


def _ended(payload: Object) -> tuple[Signal, ...]:
    return (Signal(plates.SESSION_END, {"reason": "deleted"}),)


def _status(payload: Object) -> tuple[Signal, ...]:
    status = as_object(as_object(payload.get("properties")).get("status")).get("type")
    if status == "idle":
        return _idle(payload)
    if status in ("busy", "retry"):
        # It goes on; whether somebody wrote something, another event tells.
        return (Signal(plates.PROMPT_SUBMIT, {"origin": "status"}),)
    return ()


def _idle(payload: Object) -> tuple[Signal, ...]:
    if payload.get("interrupted") is True:
        return (Signal(plates.TURN_IDLE, {"interrupted": True}),)
    return (Signal(plates.STOP, present(error=text(payload.get("error")))),)


def _failed(payload: Object) -> tuple[Signal, ...]:
    error = as_object(as_object(payload.get("properties")).get("error"))
    kind = word(error.get("name")) or "unknown"
    if kind == _STOPPED:
        return (Signal(plates.TURN_IDLE, {"interrupted": True}),)
    more = text(as_object(error.get("data")).get("message"))
    return (Signal(plates.STOP_FAILURE, {"error": f"{kind}: {more}" if more else kind}),)


def _prompted(payload: Object) -> tuple[Signal, ...]:
    prompt = text(as_object(payload.get("properties")).get("prompt"))
    return (Signal(plates.PROMPT_SUBMIT, present(prompt=prompt)),)


def _compacted(payload: Object) -> tuple[Signal, ...]:
    return (Signal(plates.COMPACT),)


def _tool_start(payload: Object) -> tuple[Signal, ...]:
    return (Signal(plates.TOOL_START, _tool(as_object(payload.get("properties")))),)


def _tool_call(payload: Object) -> tuple[Signal, ...]:
    properties = as_object(payload.get("properties"))
    listed = as_object(properties.get("args")).get("todos")
    more = _todos(listed) if properties.get("tool") == "todowrite" else {}
    return (Signal(plates.TOOL_CALL, _tool(properties) | more),)


def _tool(properties: Object) -> dict[str, Any]:
    details = present(
        toolName=word(properties.get("tool")), toolUseId=word(properties.get("callID"))
    )
    return details | {"toolInput": json_value(properties.get("args"))}


def _todos_updated(payload: Object) -> tuple[Signal, ...]:
    told = _todos(as_object(payload.get("properties")).get("todos"))
    return (heard("todo.updated", **told),)


def _todos(listed: Any) -> dict[str, Any]:
    if not isinstance(listed, list):
        return {}
    return {
        "todos": [
            {
                "id": str(index),
                **present(text=text(todo.get("content")), status=word(todo.get("status"))),
            }
            for index, todo in enumerate(objects(as_list(listed)))
        ]
    }


def _asked(payload: Object) -> tuple[Signal, ...]:
    kind, properties = str(payload.get("type")), as_object(payload.get("properties"))
    request = _request(kind, properties, payload)
    if request is None:
        return ()
    call = present(call=word(properties.get("id")))
    tool = ASKS if request.type == "question" else word(request.config.get("toolName"))
    return (Signal(plates.PERMISSION_REQUEST, present(toolName=tool, asks=request.prompt) | call),)


def _replied(payload: Object) -> tuple[Signal, ...]:
    properties = as_object(payload.get("properties"))
    call = word(properties.get("requestID")) or word(properties.get("permissionID"))
    reply = properties.get("reply", properties.get("response"))
    verdict = {"approved": reply != "reject"} if isinstance(reply, str) else {}
    return (Signal(plates.PERMISSION_RESOLVED, present(call=call) | verdict),)


# ---------------------------------------------------------------------- what people are asked


def _request(kind: str, properties: Object, payload: Object) -> Request | None:
    cwd = word(payload.get("directory"), LONGEST_PATH)
    shared = present(requestId=word(properties.get("id")), cwd=cwd)
    if kind in ("permission.asked", "permission.updated"):
        return _permission(properties, shared)
    if kind == "question.asked":
        return _question(properties, shared)
    return None


def _permission(properties: Object, shared: Mapping[str, Any]) -> Request:
    own = word(properties.get("permission")) or word(properties.get("type")) or ""
    tool, subject = _TOOLS.get(own, (own, "pattern"))
    metadata = as_object(json_value(properties.get("metadata")))
    about = _about(properties, metadata, subject)
    asked = permission(tool, {**metadata, **present(**{subject: about})}, None)
    always = (word(one) for one in as_list(properties.get("always")))
    rules = [{"pattern": rule} for rule in always if rule is not None]
    return replace(asked, config={**asked.config, **shared, **present(suggestions=rules or None)})


def _about(properties: Object, metadata: Object, subject: str) -> str | None:
    """What a permission is asked for: a command, a file, an address."""
    given = [metadata.get(key) for key in (subject, "filepath", "filePath")]
    given += [*as_list(properties.get("patterns")), properties.get("pattern")]
    return next((one for each in given if (one := text(each, LONGEST_INPUT)) is not None), None)


def _question(properties: Object, shared: Mapping[str, Any]) -> Request:
    """As Claude Code would ask it: only the word for several answers is another one here."""
    listed = [
        {**question, "multiSelect": question.get("multiple") is True}
        for question in objects(json_value(properties.get("questions")))
    ]
    given = {"questions": questions_of({"questions": listed})}
    asked = permission(ASKS, given, None)
    return replace(asked, config={**asked.config, **shared})


_READINGS: Final[Mapping[str, Reading]] = {
    "session.created": _started,
    "session.resumed": _started,
    "session.deleted": _ended,
    "session.status": _status,
    "session.idle": _idle,
    "session.error": _failed,
    "session.compacted": _compacted,
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
