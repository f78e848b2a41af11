"""Translates Codex's hooks, and the messages of its `notify` program, into the board's terms."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.vendors import hooks
from callboard.vendors.claude.decisions import refusal, verdict
from callboard.vendors.fields import LONGEST_PATH, word
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

NAME: Final = "codex"
_TURN_COMPLETE: Final = "agent-turn-complete"


def translate(payload: Json) -> Report | None:
    """The report of a hook or `notify`; None if it belongs to no session."""
    told = as_object(payload)
    if "thread-id" in told:
        return _notified(told)
    report = hooks.translated(NAME, told, _READINGS)
    if report is not None and "agent_id" in told:
        # They are the subagent's own, not the session's.
        report = replace(report, transcript_path=None, model=None)
    return None if report is None else hooks.answerable(report)


def decision(asked: "Interaction") -> dict[str, Json]:
    """What the hook prints. Codex refuses an answer with unknown fields."""
    response = as_object(asked.for_agent)
    if asked.type != "permission":
        return {}
    return verdict(response, {}, {"message": refusal(response)})


def _notified(payload: Object) -> Report | None:
    session_id = word(payload.get("thread-id"))
    if session_id is None:
        return None
    kind = word(payload.get("type")) or "unknown"
    message = hooks.last_words(payload.get("last-assistant-message"))
    signal = plates.STOP(message) if kind == _TURN_COMPLETE else hooks.heard(kind)
    path = word(payload.get("cwd"), LONGEST_PATH)
    report = Report(NAME, session_id, (signal,), payload, project_path=path)
    return with_sender(report, payload)


_READINGS: Final[Mapping[str, hooks.Reading]] = {
    "SessionStart": hooks.session_start,
    "SessionEnd": hooks.session_end,
    "UserPromptSubmit": hooks.prompt_submit,
    "PreToolUse": hooks.tool_start,
    "PostToolUse": hooks.tool_call,
    "PermissionRequest": hooks.permission_request,
    "Stop": hooks.stop,
    # Esc: only this agent reports it.
    "Interrupt": hooks.always(plates.TURN_IDLE({"interrupted": True})),
    "SubagentStart": hooks.subagent_start,
    "SubagentStop": hooks.subagent_stop,
    "PreCompact": hooks.compact,
    "PostCompact": hooks.compact,
}
