"""Translates Claude Code's hooks into the board's terms."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, is_list, objects
from callboard.events.payloads.plates import PlateEvent, ToolCallPayload
from callboard.vendors import hooks
from callboard.vendors.fields import text, word
from callboard.vendors.reports import Report
from callboard.vendors.requests import ASKS, LONGEST_PROMPT, editable

NAME: Final = "claude"


def translate(payload: Json) -> Report | None:
    """The report in a hook's payload; None if it belongs to no session."""
    report = hooks.translated(NAME, payload, _READINGS)
    if report is None:
        return None
    suggestions = as_object(payload).get("permission_suggestions")
    found = hooks.answerable(report, suggestions, subagents=True)
    asked = found.request
    return found if asked is None else replace(found, request=editable(asked))


def _tool_call(payload: Object) -> tuple[Entry, ...]:
    details = hooks.call_details(payload)
    tool = details.get("toolName")
    if tool == ASKS:
        return (plates.TOOL_CALL({**details, **_answers(payload)}),)
    return (plates.TOOL_CALL({**details, **_todos(tool, payload)}),)


def _answers(payload: Object) -> ToolCallPayload:
    told = as_object(as_object(payload.get("tool_response")).get("answers"))
    answers: dict[str, Json] = {
        question: answer
        for question, given in told.items()
        if (answer := text(given)) is not None and word(question, LONGEST_PROMPT) is not None
    }
    return {"answers": answers} if answers else {}


def _task(hook: str, status: str | None = None) -> hooks.Reading:
    def read(payload: Object) -> tuple[Entry, ...]:
        told = _one(payload.get("task_id"), payload.get("task_subject"), status)
        return (plates.HOOK_HEARD({"hook": hook, **told}),)

    return read


def _notification(payload: Object) -> tuple[Entry, ...]:
    # Not a status: for a permission it comes seconds late, and others come for no reason.
    kind, message = word(payload.get("notification_type")), text(payload.get("message"))
    return (hooks.notified(kind, message),)


def _todos(tool: str | None, payload: Object) -> PlateEvent:
    """What a finished call changes in the list: `todos` is all of it, `todo` one item."""
    given = as_object(payload.get("tool_input"))
    result = as_object(payload.get("tool_response"))
    match tool:
        case "TodoWrite":
            # A subagent's list is its own, not the session's.
            listed = result.get("newTodos", given.get("todos"))
            return {} if payload.get("agent_id") else hooks.todo_list(listed, "content")
        case "TaskCreate":
            # Without a status: the call may be reported after the task was started.
            task = as_object(result.get("task"))
            return _one(task.get("id"), task.get("subject"), None)
        case "TaskUpdate" if result.get("success") is not False:
            return _one(given.get("taskId"), given.get("subject"), given.get("status"))
        case "TaskList":
            return _listed(result.get("tasks"))
        case _:
            return {}


def _listed(tasks: Json) -> PlateEvent:
    if not is_list(tasks):
        return {}
    listed = [
        hooks.todo(id, task.get("subject"), task.get("status"))
        for task in objects(tasks)
        if (id := word(task.get("id"))) is not None
    ]
    return {"todos": listed}


def _one(id: Json, subject: Json, status: Json) -> PlateEvent:
    known = word(id)
    return {} if known is None else {"todo": hooks.todo(known, subject, status)}


_READINGS: Final[Mapping[str, hooks.Reading]] = {
    "SessionStart": hooks.session_start,
    "SessionEnd": hooks.session_end,
    "UserPromptSubmit": hooks.prompt_submit,
    "PreToolUse": hooks.tool_start,
    "PostToolUse": _tool_call,
    "PostToolUseFailure": hooks.tool_call,
    # All calls of a step are done. A refused call is reported only here. It names no tool: none of
    # them is waiting for permission anymore.
    "PostToolBatch": hooks.always(plates.TOOL_CALL({"hook": "PostToolBatch"})),
    "PermissionRequest": hooks.permission_request,
    "Notification": _notification,
    "Stop": hooks.stop,
    "StopFailure": hooks.stop_failure,
    "SubagentStart": hooks.subagent_start,
    "SubagentStop": hooks.subagent_stop,
    "PreCompact": hooks.compact,
    "PostCompact": hooks.compact,
    "TaskCreated": _task("TaskCreated"),
    "TaskCompleted": _task("TaskCompleted", "completed"),
}
