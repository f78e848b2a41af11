"""Gemini CLI's hooks in the board's words."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from callboard.events import plates
from callboard.events.moments import to_ms
from callboard.interactions.records import Interaction
from callboard.vendors import hooks
from callboard.vendors.asking import ASKS, PLANS
from callboard.vendors.fields import Object, as_object, objects, present, text, word
from callboard.vendors.reports import Report, Signal

NAME: Final = "gemini"
_DIALOGS: Final = {"ask_user": ASKS, "exit_plan_mode": PLANS}
"""Kinds of its dialogs that are more than a permission, by the names that the board knows."""


def translate(payload: Any) -> Report | None:
    """What a hook told; None for what belongs to no session."""
    report = hooks.translated(NAME, payload, _READINGS)
    if report is None:
        return None
    model = word(as_object(payload.get("llm_request")).get("model"))
    return replace(
        report,
        at_ms=report.at_ms or _moment(payload.get("timestamp")),
        model=report.model or model,
    )


def decision(asked: Interaction) -> dict[str, Any]:
    """Nothing: its permission dialogs can only be answered in the terminal."""
    return {}


def _tool_call(payload: Object) -> tuple[Signal, ...]:
    (signal,) = hooks.tool_call(payload)
    error = as_object(payload.get("tool_response")).get("error")
    failure = text(error) or text(as_object(error).get("message"))
    more = present(failure=failure) | _todos(payload)
    return (replace(signal, details={**signal.details, **more}),)


def _todos(payload: Object) -> dict[str, Any]:
    listed = as_object(payload.get("tool_input")).get("todos")
    if payload.get("tool_name") != "write_todos" or not isinstance(listed, list):
        return {}
    return {
        "todos": [
            {
                "id": str(index),
                **present(text=text(todo.get("description")), status=word(todo.get("status"))),
            }
            for index, todo in enumerate(objects(listed))
        ]
    }


def _after_agent(payload: Object) -> tuple[Signal, ...]:
    return (Signal(plates.STOP, present(message=text(payload.get("prompt_response")))),)


def _notification(payload: Object) -> tuple[Signal, ...]:
    """A dialog opens. It does not say for which call, so whichever goes on ends it."""
    message, kind = text(payload.get("message")), word(payload.get("notification_type"))
    if kind != "ToolPermission":
        return (hooks.heard("Notification", kind=kind, message=message),)
    dialog = as_object(payload.get("details"))
    command = text(dialog.get("command"))
    sentence = f"Run: {command}" if command else message or text(dialog.get("title"))
    tool = _DIALOGS.get(str(dialog.get("type"))) or word(dialog.get("title"))
    return (Signal(plates.PERMISSION_REQUEST, present(toolName=tool, asks=sentence)),)


def _moment(value: Any) -> int | None:
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else "")
        told = to_ms(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
    return told if told > 0 else None


_READINGS: Final[Mapping[str, hooks.Reading]] = {
    "SessionStart": hooks.session_start,
    "SessionEnd": hooks.session_end,
    "BeforeAgent": hooks.prompt_submit,
    "AfterAgent": _after_agent,
    "BeforeTool": hooks.tool_start,
    "AfterTool": _tool_call,
    "Notification": _notification,
    "PreCompress": hooks.compact,
}
