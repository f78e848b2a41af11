"""Events that programs report in the board's own format, in addition to coding agents' hooks."""

import math
from typing import Final

from callboard.errors import ValidationError
from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, as_text
from callboard.events.moments import from_iso, to_ms
from callboard.vendors.hooks import todo_list
from callboard.vendors.reports import Report

_SECONDS_UNTIL: Final = 1e11
"""Below this, a number is in seconds since 1970 (until the year 5138); otherwise, milliseconds."""


_TEXTS: Final = ("error", "prompt", "message", "reason")


def report_of(told: Object) -> Report:
    """The report for an event of `POST /events`; unknown names pass through."""
    name = as_text(told["event_type"])
    details = _details(told)
    if name not in plates.FROM_AGENTS:
        name, details = str(plates.HOOK_HEARD), {"hook": name, **details}
    return Report(
        agent=as_text(told["agent"]),
        session_id=as_text(told["session_id"]),
        signals=(Entry(name, details),),
        raw=dict(told),
        project_path=_text(told.get("project_path")) or _text(told.get("cwd")),
        transcript_path=_text(told.get("transcript_path")),
        git_branch=_text(told.get("git_branch")),
        tmux_target=_text(told.get("tmux_target")),
        at_ms=_moment(told.get("timestamp")),
    )


def _details(told: Object) -> Object:
    details = {key: told[key] for key in _TEXTS if isinstance(told.get(key), str)}
    tool, given = _text(told.get("tool_name")), told.get("tool_input")
    if given is None:
        given = told.get("tool_params")
    if tool is not None:
        details["toolName"] = tool
    if given is not None:
        details["toolInput"] = given
    if tool == "TodoWrite":
        details |= todo_list(as_object(given).get("todos"), "content")
    return details


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _moment(told: Json) -> int | None:
    if isinstance(told, str):
        try:
            return to_ms(from_iso(told))
        except ValueError as error:
            raise ValidationError(
                f"timestamp: {told!r} is not a time. Use one like 2026-01-31T12:00:00Z.",
                field="timestamp",
            ) from error
    if not isinstance(told, int | float):
        return None
    if not math.isfinite(told) or not 0 <= told < _SECONDS_UNTIL * 1000:
        raise ValidationError("timestamp: out of range.", field="timestamp")
    return round(told * 1000) if told < _SECONDS_UNTIL else round(told)
