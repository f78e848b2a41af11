"""Hooks in the format that Claude Code introduced and others partly adopted.

A hook's name is in `hook_event_name`, the client's session in `session_id`. A reading extracts the
events from a hook with a given name; each agent has a table of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, is_list, objects
from callboard.events.payloads.plates import (
    BackgroundWork,
    HookHeardPayload,
    PermissionRequestPayload,
    PlateEvent,
    StopPayload,
    TodoItem,
    ToolCallPayload,
    ToolStartPayload,
    ToolUseDetails,
)
from callboard.vendors.fields import LONGEST_PATH, LONGEST_WORD, json_value, text, word
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import SUBAGENT, HookRequest, Report
from callboard.vendors.requests import ASKS, PLANS, asks, request

Reading = Callable[[Object], tuple[Entry, ...]]

_WAKES_ITSELF: Final = "<task-notification>"
_DONE: Final = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})


def translated(agent: str, payload: Json, readings: Mapping[str, Reading]) -> Report | None:
    """The report in a payload; None if it belongs to no session.

    A hook that is unknown or reports nothing is recorded anyway.
    """
    told = as_object(payload)
    session_id = word(told.get("session_id"))
    if session_id is None:
        return None
    hook = word(told.get("hook_event_name")) or "unknown"
    read = readings.get(hook)
    signals = (read(told) if read is not None else ()) or (heard(hook),)
    report = Report(
        agent,
        session_id,
        within(signals, word(told.get("agent_id"))),
        told,
        project_path=word(told.get("cwd"), LONGEST_PATH),
        transcript_path=word(told.get("transcript_path"), LONGEST_PATH),
        model=word(told.get("model")),
        name=text(told.get("session_title"), LONGEST_WORD),
        continues=hook == "SessionStart" and told.get("source") == "clear",
    )
    return with_sender(report, told)


def answerable(report: Report, suggestions: Json = None, *, subagents: bool = False) -> Report:
    """The report with the question to a person, if its hook can be held for the answer.

    subagents: whether the agent honors a decision about a call of a subagent. While such a hook
        runs, the terminal shows no dialog, so it is held for a limited time only.
    """
    for signal in report.signals:
        details = plates.PERMISSION_REQUEST.of(signal)
        if details is not None and (subagents or "subagent" not in details):
            tool, given = details.get("toolName", ""), details.get("toolInput")
            asked = request(tool, given, report.project_path, suggestions, details.get("asks"))
            kind = word(as_object(report.raw).get("agent_type"))
            return replace(report, request=of_subagent(asked, details.get("subagent"), kind))
    return report


def of_subagent(asked: HookRequest, id: str | None, kind: str | None) -> HookRequest:
    """A question, with the subagent that asks it, if one does. kind: what the client calls it."""
    if id is None:
        return asked
    told: dict[str, Json] = {"id": id} if kind is None else {"id": id, "name": kind}
    return replace(asked, config={**asked.config, SUBAGENT: told})


def always(signal: Entry) -> Reading:
    """The reading of a hook whose name says everything."""
    return lambda payload: (signal,)


def heard(hook: str) -> Entry:
    """A hook that doesn't affect the status."""
    return plates.HOOK_HEARD({"hook": hook})


def notified(kind: str | None, message: str | None) -> Entry:
    """A notification, which doesn't affect the status."""
    details: HookHeardPayload = {"hook": "Notification"}
    if kind is not None:
        details["kind"] = kind
    if message is not None:
        details["message"] = message
    return plates.HOOK_HEARD(details)


def within(signals: tuple[Entry, ...], subagent: str | None) -> tuple[Entry, ...]:
    """The same, marked as happening in a subagent, if there is one."""
    if subagent is None:
        return signals
    return tuple(one._replace(payload={**one.payload, "subagent": subagent}) for one in signals)


# ---------------------------------------------------------------------- readings


def session_start(payload: Object) -> tuple[Entry, ...]:
    """A new session waits for its first prompt. Compacting doesn't start one."""
    source = word(payload.get("source"))
    if source == "compact":
        return (plates.COMPACT({"source": source}),)
    return plates.SESSION_START({} if source is None else {"source": source}), plates.TURN_IDLE({})


def session_end(payload: Object) -> tuple[Entry, ...]:
    """The session has ended."""
    reason = word(payload.get("reason"))
    return (plates.SESSION_END({} if reason is None else {"reason": reason}),)


def prompt_submit(payload: Object) -> tuple[Entry, ...]:
    """A person wrote a prompt; or the client did, when background work finished."""
    prompt = text(payload.get("prompt"))
    if prompt is not None and prompt.lstrip().startswith(_WAKES_ITSELF):
        return (plates.PROMPT_SUBMIT({"origin": "self"}),)
    return (prompted(prompt),)


def prompted(prompt: str | None) -> Entry:
    """A person wrote this prompt, as far as the client says."""
    return plates.PROMPT_SUBMIT({} if prompt is None else {"prompt": prompt})


def tool_start(payload: Object) -> tuple[Entry, ...]:
    """A tool is about to be used. Two tools are just questions to a person."""
    details: ToolStartPayload = {**tool_details(payload)}
    if (tool := details.get("toolName")) in (ASKS, PLANS):
        details["asks"] = asks(tool, details.get("toolInput"))
    return (plates.TOOL_START(details),)


def tool_call(payload: Object) -> tuple[Entry, ...]:
    """A tool was used, successfully or not."""
    return (plates.TOOL_CALL(call_details(payload)),)


def call_details(payload: Object) -> ToolCallPayload:
    """A tool that was used, and how it failed, if it did."""
    failure = text(payload.get("error"))
    details = tool_details(payload)
    return {**details} if failure is None else {**details, "failure": failure}


def permission_request(payload: Object) -> tuple[Entry, ...]:
    """A dialog is open and waits for a person."""
    details = tool_details(payload)
    sentence = asks(details.get("toolName", ""), details.get("toolInput"))
    return (plates.PERMISSION_REQUEST({**details, "asks": sentence}),)


def dialog(tool: str | None, sentence: str | None, call: str | None = None) -> Entry:
    """A dialog of which little more than its question is known. call: the client's id of it."""
    details: PermissionRequestPayload = {}
    if tool is not None:
        details["toolName"] = tool
    if sentence is not None:
        details["asks"] = sentence
    if call is not None:
        details["call"] = call
    return plates.PERMISSION_REQUEST(details)


def stop(payload: Object) -> tuple[Entry, ...]:
    """A turn has ended. Background work may resume the session."""
    if payload.get("error"):
        return (failed_turn(text(payload["error"]), text(payload.get("error_details"))),)
    details = last_words(payload.get("last_assistant_message"))
    background = _background(payload)
    if background is not None:
        details["background"] = background
    return (plates.STOP(details),)


def last_words(message: Json) -> StopPayload:
    """The agent's last message, if the client sends it."""
    said = text(message)
    return {} if said is None else {"message": said}


def stop_failure(payload: Object) -> tuple[Entry, ...]:
    """A turn has failed."""
    return (failed_turn(word(payload.get("error")), text(payload.get("error_details"))),)


def failed_turn(kind: str | None, more: str | None) -> Entry:
    """A turn that has failed, and why."""
    error = kind or "unknown"
    return plates.STOP_FAILURE({"error": f"{error}: {more}" if more else error})


def compact(payload: Object) -> tuple[Entry, ...]:
    """The client compacts its context."""
    trigger = word(payload.get("trigger"))
    return (plates.COMPACT({} if trigger is None else {"trigger": trigger}),)


def subagent_start(payload: Object) -> tuple[Entry, ...]:
    """A subagent has started."""
    kind = _subagent(payload)
    return () if kind is None else (plates.SUBAGENT_START({"agentType": kind}),)


def subagent_stop(payload: Object) -> tuple[Entry, ...]:
    """A subagent has ended."""
    kind = _subagent(payload)
    return () if kind is None else (plates.SUBAGENT_STOP({"agentType": kind}),)


def _subagent(payload: Object) -> str | None:
    # Compacting uses agents without a type, which shouldn't be shown.
    return None if word(payload.get("agent_id")) is None else word(payload.get("agent_type"))


def tool_details(payload: Object) -> ToolUseDetails:
    """The tool, the call, and its input."""
    details = call_named(payload.get("tool_name"), payload.get("tool_use_id"))
    if "tool_input" in payload:
        details["toolInput"] = json_value(payload["tool_input"])
    return details


def call_named(tool: Json, use: Json) -> ToolUseDetails:
    """The tool and the call, as far as the client says."""
    details: ToolUseDetails = {}
    if (name := word(tool)) is not None:
        details["toolName"] = name
    if (id := word(use)) is not None:
        details["toolUseId"] = id
    return details


def todo_list(listed: Json, subject: str) -> PlateEvent:
    """A whole to-do list whose items have no ids; nothing if it isn't a list.

    subject: the key of an item's text.
    """
    if not is_list(listed):
        return {}
    items = enumerate(objects(listed))
    return {"todos": [todo(str(at), one.get(subject), one.get("status")) for at, one in items]}


def todo(id: str, subject: Json, status: Json) -> TodoItem:
    """One item of a to-do list, as far as it is known."""
    item: TodoItem = {"id": id}
    if (said := text(subject)) is not None:
        item["text"] = said
    if (stage := word(status)) is not None:
        item["status"] = stage
    return item


def _background(payload: Object) -> list[BackgroundWork] | None:
    """What continues after the turn; None if the client doesn't say."""
    if "background_tasks" not in payload and "session_crons" not in payload:
        return None
    tasks = [
        _going_on(task, word(task.get("type")) or "task", "description", "command")
        for task in objects(payload.get("background_tasks"))
        if task.get("status") not in _DONE
    ]
    crons = objects(payload.get("session_crons"))
    return tasks + [_going_on(cron, "schedule", "prompt", "schedule") for cron in crons]


def _going_on(told: Object, kind: str, *described_by: str) -> BackgroundWork:
    found = (text(told.get(key), LONGEST_WORD) for key in described_by)
    return {
        "id": word(told.get("id")) or "",
        "kind": kind,
        "description": next((one for one in found if one is not None), ""),
    }
