"""Translates Gemini CLI's hooks into the board's terms."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object
from callboard.vendors import hooks
from callboard.vendors.fields import text, word
from callboard.vendors.reports import Report
from callboard.vendors.requests import ASKS, PLANS
from callboard.vendors.turns import millis

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

NAME: Final = "gemini"
_DIALOGS: Final = {"ask_user": ASKS, "exit_plan_mode": PLANS}
"""Its dialogs that are more than a permission, with the board's names for them."""


def translate(payload: Json) -> Report | None:
    """The report in a hook's payload; None if it belongs to no session."""
    told = as_object(payload)
    report = hooks.translated(NAME, told, _READINGS)
    if report is None:
        return None
    model = word(as_object(told.get("llm_request")).get("model"))
    at_ms = millis(told.get("timestamp")) or 0
    return replace(
        report,
        at_ms=report.at_ms or (at_ms if at_ms > 0 else None),
        model=report.model or model,
    )


def decision(asked: "Interaction") -> dict[str, Json]:
    """Nothing: its permission dialogs can only be answered in the terminal."""
    return {}


def _tool_call(payload: Object) -> tuple[Entry, ...]:
    details = hooks.call_details(payload)
    error = as_object(payload.get("tool_response")).get("error")
    failure = text(error) or text(as_object(error).get("message"))
    if failure is not None:
        details["failure"] = failure
    if details.get("toolName") != "write_todos":
        return (plates.TOOL_CALL(details),)
    listed = as_object(payload.get("tool_input")).get("todos")
    return (plates.TOOL_CALL({**details, **hooks.todo_list(listed, "description")}),)


def _after_agent(payload: Object) -> tuple[Entry, ...]:
    return (plates.STOP(hooks.last_words(payload.get("prompt_response"))),)


def _notification(payload: Object) -> tuple[Entry, ...]:
    """A dialog opens. It doesn't say for which call, so the next one to continue ends it."""
    message, kind = text(payload.get("message")), word(payload.get("notification_type"))
    if kind != "ToolPermission":
        return (hooks.notified(kind, message),)
    dialog = as_object(payload.get("details"))
    command = text(dialog.get("command"))
    sentence = f"Run: {command}" if command else message or text(dialog.get("title"))
    tool = _DIALOGS.get(str(dialog.get("type"))) or word(dialog.get("title"))
    return (hooks.dialog(tool, sentence),)


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
