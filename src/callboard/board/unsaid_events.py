"""Events for those who may not read conversations: what the board itself shows, and no more."""

from collections.abc import Mapping
from typing import Final

from callboard.board.plate import clipped
from callboard.events import messages, plates
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_object
from callboard.vendors.acp.conversation import is_said

_KEPT: Final = frozenset(
    {
        "agent_id",
        "agent_type",
        "cwd",
        "hook_event_name",
        "is_interrupt",
        "model",
        "notification_type",
        "permission_mode",
        "permission_suggestions",
        "prompt_id",
        "reason",
        "session_id",
        "session_title",
        "source",
        "tool_input",
        "tool_name",
        "tool_use_id",
        "transcript_path",
        "trigger",
        "turn_id",
        "type",
    }
)
"""What a hook sends that doesn't belong to a conversation, or that the board shows anyway.

Anything else is left out: clients add to their hooks, and say more with each version.
"""
_ON_BOARD: Final = frozenset({plates.PROMPT_SUBMIT, plates.STOP})
"""Events of which the board shows the start of the text."""
_FAILED: Final = "The tool failed."


def without_conversation(event: Event) -> Event:
    """The event without what only those who may read conversations see.

    That is what agents and people said, beyond the start of it, which is on the board; the results
    of tools; and the texts of messages to agents. Of a report that was too large to be kept, only
    its start is known, which doesn't say what it is.
    """
    payload = event.payload
    if event.name in messages.ALL:
        return event._replace(payload={**payload, "text": ""}) if "text" in payload else event
    shown = dict(payload)
    if event.name in _ON_BOARD:
        shown |= {key: clipped(shown[key]) or "" for key in ("prompt", "message") if key in shown}
    elif event.name == plates.SUBAGENT_STOP:
        shown.pop("message", None)
    if event.name == plates.TOOL_CALL and "failure" in shown:
        shown["failure"] = _FAILED  # The rest is what the tool printed.
    if "raw" in shown:
        del shown["raw"]
        if raw := _without_results(as_object(payload["raw"])):
            shown["raw"] = raw
    return event if shown == payload else event._replace(payload=shown)


def _without_results(raw: Mapping[str, Json]) -> dict[str, Json]:
    if raw.get("truncated") is True or is_said(raw):
        return {}
    return {key: value for key, value in raw.items() if key in _KEPT}
