"""Codex's hooks in the board's words, and the messages of its `notify` program."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.events import plates
from callboard.interactions.records import Interaction
from callboard.vendors import hooks
from callboard.vendors.asking import request
from callboard.vendors.claude.decisions import NO_DECISION, output
from callboard.vendors.fields import LONGEST_PATH, Object, as_object, present, text, word
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report, Signal

NAME: Final = "codex"
_TURN_COMPLETE: Final = "agent-turn-complete"
_REFUSED: Final = "A person said no to this on the board."


def translate(payload: Any) -> Report | None:
    """What a hook or `notify` told; None for what belongs to no session."""
    told = as_object(payload)
    if "thread-id" in told:
        return _notified(told)
    report = hooks.translated(NAME, told, _READINGS)
    if report is None or all(one.name != plates.PERMISSION_REQUEST for one in report.signals):
        return report
    tool, cwd = word(told.get("tool_name")) or "", word(told.get("cwd"), LONGEST_PATH)
    return replace(report, request=request(tool, told.get("tool_input"), cwd))


def decision(asked: Interaction) -> dict[str, Any]:
    """What the hook prints. Codex refuses an answer that holds more than it knows."""
    if asked.status != "completed" or asked.via == "terminal" or asked.type != "permission":
        return dict(NO_DECISION)
    response = as_object(asked.response)
    match response.get("approved"):
        case True:
            return output(behavior="allow")
        case False:
            return output(behavior="deny", message=text(response.get("message")) or _REFUSED)
        case _:
            return dict(NO_DECISION)


def _notified(payload: Object) -> Report | None:
    session_id = word(payload.get("thread-id"))
    if session_id is None:
        return None
    kind = word(payload.get("type")) or "unknown"
    message = present(message=text(payload.get("last-assistant-message")))
    is_over = kind == _TURN_COMPLETE
    signal = Signal(plates.STOP, message) if is_over else hooks.heard(kind)
    path = word(payload.get("cwd"), LONGEST_PATH)
    report = Report(NAME, session_id, (signal,), payload, project_path=path)
    return with_sender(report, payload)


def _interrupted(payload: Object) -> tuple[Signal, ...]:
    """Esc: the one agent that tells it."""
    return (Signal(plates.TURN_IDLE, {"interrupted": True}),)


_READINGS: Final[Mapping[str, hooks.Reading]] = {
    "SessionStart": hooks.session_start,
    "SessionEnd": hooks.session_end,
    "UserPromptSubmit": hooks.prompt_submit,
    "PreToolUse": hooks.tool_start,
    "PostToolUse": hooks.tool_call,
    "PermissionRequest": hooks.permission_request,
    "Stop": hooks.stop,
    "Interrupt": _interrupted,
    "SubagentStart": hooks.subagent_start,
    "SubagentStop": hooks.subagent_stop,
    "PreCompact": hooks.compact,
    "PostCompact": hooks.compact,
}
