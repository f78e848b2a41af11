"""Claude Code's hooks in the board's words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.events import plates
from callboard.vendors import hooks
from callboard.vendors.asking import ASKS, LONGEST_PROMPT
from callboard.vendors.claude import todos
from callboard.vendors.fields import Object, as_object, text, word
from callboard.vendors.reports import Report, Signal

NAME: Final = "claude"


def translate(payload: Any) -> Report | None:
    """What a hook told; None for what belongs to no session."""
    report = hooks.translated(NAME, payload, _READINGS)
    if report is None:
        return None
    return hooks.answerable(report, as_object(payload).get("permission_suggestions"))


def _tool_call(payload: Object) -> tuple[Signal, ...]:
    (signal,) = hooks.tool_call(payload)
    tool = signal.details.get("toolName")
    more = todos.from_tool(tool, payload) | (_answers(payload) if tool == ASKS else {})
    return (replace(signal, details={**signal.details, **more}),)


def _answers(payload: Object) -> dict[str, Any]:
    told = as_object(as_object(payload.get("tool_response")).get("answers"))
    answers = {
        question: answer
        for question, given in told.items()
        if (answer := text(given)) is not None and word(question, LONGEST_PROMPT) is not None
    }
    return {"answers": answers} if answers else {}


def _tool_batch(payload: Object) -> tuple[Signal, ...]:
    """All calls of a step are done. One that was refused is told of here and nowhere else.

    It names no tool: whatever was still asked for any of them is not asked any more.
    """
    return (Signal(plates.TOOL_CALL, {"hook": "PostToolBatch"}),)


def _task_created(payload: Object) -> tuple[Signal, ...]:
    return (hooks.heard("TaskCreated", **todos.from_task(payload)),)


def _task_completed(payload: Object) -> tuple[Signal, ...]:
    return (hooks.heard("TaskCompleted", **todos.from_task(payload, "completed")),)


def _notification(payload: Object) -> tuple[Signal, ...]:
    # No state: a permission's comes seconds late, and others come for nothing.
    kind, message = word(payload.get("notification_type")), text(payload.get("message"))
    return (hooks.heard("Notification", kind=kind, message=message),)


_READINGS: Final[Mapping[str, hooks.Reading]] = {
    "SessionStart": hooks.session_start,
    "SessionEnd": hooks.session_end,
    "UserPromptSubmit": hooks.prompt_submit,
    "PreToolUse": hooks.tool_start,
    "PostToolUse": _tool_call,
    "PostToolUseFailure": hooks.tool_call,
    "PostToolBatch": _tool_batch,
    "PermissionRequest": hooks.permission_request,
    "Notification": _notification,
    "Stop": hooks.stop,
    "StopFailure": hooks.stop_failure,
    "SubagentStart": hooks.subagent_start,
    "SubagentStop": hooks.subagent_stop,
    "PreCompact": hooks.compact,
    "PostCompact": hooks.compact,
    "TaskCreated": _task_created,
    "TaskCompleted": _task_completed,
}
