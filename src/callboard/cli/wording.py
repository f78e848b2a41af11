"""Values as people read them: moments, durations, JSON in one line."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from callboard.display.characters import visible
from callboard.events.codec import dump_json

_DAY = 86_400
_UNITS = ((_DAY, "d"), (3600, "h"), (60, "min"))


def duration(seconds: float) -> str:
    """How long: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 1 h`.

    Whole seconds are told as whole seconds.
    """
    if seconds < 0.0995 and not isinstance(seconds, int):
        return f"{max(round(seconds * 1000), 0)} ms"
    if seconds < 9.95 and not isinstance(seconds, int):
        return f"{seconds:.1f} s"
    left = round(seconds)
    if left < 60:
        return f"{left} s"
    parts: list[str] = []
    for size, unit in (*_UNITS, (1, "s")):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part)


def between(start: datetime, end: datetime) -> str:
    """How long from one moment to another."""
    return duration((end - start).total_seconds())


def moment(at: datetime, now: datetime) -> str:
    """When, in local time: with the day unless it is today."""
    local = at.astimezone()
    same_day = local.date() == now.astimezone().date()
    return local.strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S")


def ago(at: datetime, now: datetime) -> str:
    """How long ago, in one unit."""
    seconds = (now - at).total_seconds()
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 10 else f"{int(seconds)} s ago"


def one_line(text: str, limit: int | None = None) -> str:
    """Any text on one line, nothing hidden in it, cut off with … when it is too long."""
    line = " ".join(visible(text).split())
    return line if limit is None or len(line) <= limit else line[: max(limit - 1, 0)] + "…"


def preview(value: Any, limit: int | None = None) -> str:
    """A JSON value on one line; a text without its quotes."""
    return one_line(value if isinstance(value, str) else dump_json(value).decode(), limit)


def error_text(error: Mapping[str, Any]) -> str:
    """An event's error on one line; with its type when that is the workflow's own."""
    kind, message = error.get("type"), one_line(str(error.get("message", "unknown error")))
    theirs = error.get("code") in (None, "AGENT_ERROR") and kind not in (None, message)
    return f"{kind}: {message}" if theirs else message


def author(payload: Mapping[str, Any]) -> str:
    """Who did something: ` by admin (as "dana")`, of which only the first name was checked."""
    by, given = payload.get("by"), payload.get("as")
    if not by:
        return ""
    return f" by {one_line(by)}" + (f' (as "{one_line(given)}")' if given else "")


def plural(count: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
