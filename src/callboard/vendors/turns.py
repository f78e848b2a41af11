"""The end of a client's transcript: its last lines, records, and the end of a turn."""

from dataclasses import dataclass
from pathlib import Path

from callboard.disk.files import read_end
from callboard.events.codec import load_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.events.moments import from_iso, to_ms


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a turn, with nothing after it. interrupted: a person pressed Esc."""

    at_ms: int
    interrupted: bool


def last_lines(path: str | Path, most: int) -> list[bytes]:
    """The lines within the last bytes of a file; empty if it can't be read.

    The first may be cut off and the last half written: neither is JSON then.
    """
    try:
        return read_end(path, most).split(b"\n")
    except (OSError, ValueError):
        return []


def record_in(line: bytes) -> Object:
    """The record in a line; empty if the line holds no record."""
    try:
        return as_object(load_json(line))
    except ValueError:
        return {}


def millis(moment: Json) -> int | None:
    """A record's timestamp in milliseconds."""
    try:
        return to_ms(from_iso(moment)) if isinstance(moment, str) else None
    except (ValueError, OverflowError):
        return None
