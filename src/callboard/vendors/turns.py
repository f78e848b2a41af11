"""The end of a client's transcript: its last lines, records, and the end of a turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import open_to_read, posix, read_end
from callboard.events.codec import load_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.events.moments import from_iso, to_ms

_PIECE: Final = 1_048_576


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


def is_without(path: str | Path | None, marks: Sequence[bytes]) -> bool:
    """Whether none of these is anywhere in a file; False if not all of it can be read."""
    if path is None:
        return False
    kept = max(map(len, marks)) - 1
    try:
        opened = open_to_read(path, follow=True)
    except (OSError, ValueError):
        return False
    try:
        end = b""
        while part := posix.read(opened, _PIECE):
            end += part
            if any(mark in end for mark in marks):
                return False
            end = end[-kept:]
    except OSError:
        return False
    finally:
        posix.close(opened)
    return True


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
