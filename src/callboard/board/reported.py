"""Events that programs report in the board's own words, beside the hooks of coding agents."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from callboard.errors import ValidationError
from callboard.events import plates
from callboard.events.moments import to_ms
from callboard.vendors.fields import as_object
from callboard.vendors.reports import Report, Signal

_SECONDS_UNTIL: Final = 1e11
"""A number below is seconds since 1970, a larger one milliseconds: it is the year 5138."""


def report_of(told: Mapping[str, Any]) -> Report:
    """The report that an event of `POST /events` makes; names that are not known pass through."""
    name: str = told["event_type"]
    details: dict[str, Any] = {}
    if name not in plates.FROM_AGENTS:
        name, details = plates.HOOK_HEARD, {"hook": name}
    for key, sources in _DETAILS.items():
        found = next((told[one] for one in sources if told.get(one) is not None), None)
        if found is not None:
            details[key] = found
    details |= _todos(details)
    return Report(
        agent=told["agent"],
        session_id=told["session_id"],
        signals=(Signal(name, details),),
        raw=dict(told),
        project_path=told.get("project_path") or told.get("cwd"),
        transcript_path=told.get("transcript_path"),
        git_branch=told.get("git_branch"),
        tmux_target=told.get("tmux_target"),
        at_ms=_moment(told.get("timestamp")),
    )


_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "toolName": ("tool_name",),
    "toolInput": ("tool_input", "tool_params"),
    "error": ("error",),
    "prompt": ("prompt",),
    "message": ("message",),
    "reason": ("reason",),
}


def _todos(details: Mapping[str, Any]) -> dict[str, Any]:
    listed = as_object(details.get("toolInput")).get("todos")
    if details.get("toolName") != "TodoWrite" or not isinstance(listed, list):
        return {}
    items = [as_object(one) for one in cast("list[Any]", listed)]
    return {
        "todos": [
            {"id": str(number), "text": one.get("content"), "status": one.get("status")}
            for number, one in enumerate(items)
        ]
    }


def _moment(told: str | float | None) -> int | None:
    if told is None:
        return None
    if isinstance(told, str):
        try:
            moment = datetime.fromisoformat(told)
        except ValueError as error:
            raise ValidationError(
                f"timestamp: {told!r} is no time; send one like 2026-01-31T12:00:00Z.",
                field="timestamp",
            ) from error
        return to_ms(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    if not math.isfinite(told) or not 0 <= told < _SECONDS_UNTIL * 1000:
        raise ValidationError("timestamp: no time is so far away.", field="timestamp")
    return round(told * 1000) if told < _SECONDS_UNTIL else round(told)
