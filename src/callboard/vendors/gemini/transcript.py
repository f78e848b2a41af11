"""The end of Gemini CLI's transcript: whether someone pressed Esc, which no hook reports.

It records calls only when they are over, so the end of a turn looks the same as a running call.
Only Esc leaves a record of its own.
"""

from pathlib import Path
from typing import Final

from callboard.events.json_values import Object, objects
from callboard.vendors.turns import TurnEnd, last_lines, millis, record_in

_MOST: Final = 256 * 1024
_ESC: Final = "Request cancelled."


def turn_end(path: str | Path) -> TurnEnd | None:
    """Esc, if only what it cancelled was written after it; otherwise None."""
    at_ms: int | None = None
    for line in reversed(last_lines(path, _MOST)):
        record = record_in(line)
        if "type" not in record:
            continue  # Updates to the file's header.
        at_ms = millis(record.get("timestamp")) if at_ms is None else at_ms
        if record.get("type") == "info" and record.get("content") == _ESC:
            return None if at_ms is None else TurnEnd(at_ms, interrupted=True)
        if not _is_cancelled(record):
            return None
    return None


def _is_cancelled(record: Object) -> bool:
    """Whether a record only has results of calls that Esc ended."""
    calls = objects(record.get("toolCalls"))
    if record.get("type") == "gemini":
        return bool(calls) and all(call.get("status") == "cancelled" for call in calls)
    parts = objects(record.get("content"))
    return bool(parts) and all("functionResponse" in part for part in parts)
