"""Values as people read them: times, durations, JSON on one line, and the signs used with them."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from callboard.display.lines import one_line
from callboard.events.codec import dump_json


@dataclass(frozen=True, slots=True)
class Signs:
    """One character each, available in every terminal font."""

    done: str = "✓"
    failed: str = "✗"
    here: str = "●"
    ahead: str = "○"
    entered: str = "▸"
    asks: str = "?"
    paused: str = "‖"
    off: str = "⊘"
    arrow: str = "→"
    dot: str = "·"
    bar: str = "│"
    human: str = "◆"
    down: str = "▼"
    down_not_taken: str = "▽"
    back: str = "◄"
    back_not_taken: str = "◁"
    times: str = "×"
    more: str = "…"
    end: str = "■"
    taken: str = "━"
    not_taken: str = "┄"


ASCII = Signs("+", "x", "*", "o", ">", "?", "=", "-", "->", "-", "|", *"?Vv<<x~#=.")

_DAY = 86_400
_UNITS = ((_DAY, "d"), (3600, "h"), (60, "min"))


def duration(seconds: float) -> str:
    """A duration: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 1 h`.

    Whole seconds are shown as whole seconds.
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
    """The duration between two times."""
    return duration((end - start).total_seconds())


def moment(at: datetime, now: datetime) -> str:
    """A local time, with the date unless it is today."""
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


def preview(value: object, limit: int | None = None) -> str:
    """A JSON value on one line; text without its quotes."""
    return one_line(value if isinstance(value, str) else dump_json(value).decode(), limit)


def error_text(error: Mapping[str, object]) -> str:
    """An event's error on one line; with its type if that is the workflow's own."""
    kind, message = error.get("type"), one_line(str(error.get("message", "unknown error")))
    theirs = error.get("code") in (None, "AGENT_ERROR") and kind not in (None, message)
    return f"{kind}: {message}" if theirs else message


def author(payload: Mapping[str, object]) -> str:
    """Who did something: ` by admin (as "dana")`, of which only the first name was verified."""
    by, given = payload.get("by"), payload.get("as")
    if not by:
        return ""
    return f" by {one_line(str(by))}" + (f' (as "{one_line(str(given))}")' if given else "")


def utc_offset() -> int:
    """The current offset of local time from UTC, in minutes."""
    return time.localtime().tm_gmtoff // 60


def time_zone() -> str | None:
    """The name of the local time zone, if this machine says."""
    if given := os.environ.get("TZ", "").removeprefix(":"):
        return given if "/" in given and not given.startswith("/") else None
    # A link into the database, on Linux and macOS.
    return os.path.realpath("/etc/localtime").partition("zoneinfo/")[2] or None
