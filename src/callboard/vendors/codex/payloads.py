"""Codex's hooks in the board's words, and the messages of its `notify` program."""

from collections.abc import Mapping
from typing import Any, Final

from callboard.events import plates
from callboard.interactions.records import Interaction
from callboard.vendors import hooks
from callboard.vendors.claude.decisions import NO_DECISION, refusal, verdict
from callboard.vendors.fields import LONGEST_PATH, Object, as_object, present, text, word
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report, Signal

NAME: Final = "codex"
_TURN_COMPLETE: Final = "agent-turn-complete"


def translate(payload: Any) -> Report | None:
    """What a hook or `notify` told; None for what belongs to no session."""
    told = as_object(payload)
    if "thread-id" in told:
        return _notified(told)
    report = hooks.translated(NAME, told, _READINGS)
    return None if report is None else hooks.answerable(report)


def decision(asked: Interaction) -> dict[str, Any]:
    """What the hook prints. Codex refuses an answer that holds more than it knows."""
    response = as_object(asked.for_agent)
    if asked.type != "permission":
        return dict(NO_DECISION)
    return verdict(response, {}, {"message": refusal(response)})


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
