"""The end of a transcript: whether the last turn was interrupted, and who decided what.

Transcripts hold prompts and files of people. They are read here, never kept, and only their end.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.events.codec import load_json
from callboard.events.moments import from_iso, to_ms
from callboard.vendors.fields import Object, as_object, objects, word

LONGEST_END: Final = 64 * 1024

_INTERRUPTED: Final = "[Request interrupted by user"
_TURNS: Final = frozenset({"user", "assistant"})
_LEFT: Final = frozenset({"interrupted", "cancelled"})


@dataclass(frozen=True, slots=True)
class Ruling:
    """How a call of a tool was decided.

    approved: None when it was neither allowed nor denied, but left.
    source: who decided, in the client's words: a person, a hook, or its settings.
    """

    approved: bool | None
    source: str | None


def read_end(path: str | Path) -> list[Object]:
    """The last records of a transcript, oldest first; none when it cannot be read.

    Its last line may be half written, and the first of what we read half cut off.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as reading:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return []
            reading.seek(max(0, found.st_size - LONGEST_END))
            lines = reading.read(LONGEST_END).split(b"\n")
    except (OSError, ValueError):
        return []
    return [record for line in lines if (record := _record(line))]


def was_interrupted(records: Sequence[Object]) -> bool:
    """Whether the last thing that happened in the conversation is that a person stopped it."""
    said = (one for one in reversed(records) if _is_turn(one))
    last = next(said, None)
    return last is not None and any(text.startswith(_INTERRUPTED) for text in _texts(last))


def ruling_on(records: Sequence[Object], tool_use_id: str) -> Ruling | None:
    """How this call was decided; None when the transcript does not tell, or not yet."""
    for record in reversed(records):
        if any(block.get("tool_use_id") == tool_use_id for block in _blocks(record)):
            return _ruling(record)
    return None


def ruling_since(records: Sequence[Object], at_ms: int) -> Ruling | None:
    """How the last call was decided on which there was a ruling after that moment."""
    for record in reversed(records):
        written = word(record.get("timestamp"))
        if written is None or _millis(written) < at_ms:
            continue
        if (found := _ruling(record)) is not None:
            return found
    return None


def _millis(written: str) -> int:
    try:
        return to_ms(from_iso(written))
    except (ValueError, OverflowError):
        return 0


def _ruling(record: Object) -> Ruling | None:
    denied = word(record.get("toolDenialKind"))
    if denied is not None:
        return Ruling(None if denied in _LEFT else False, denied)
    decided = as_object(record.get("permissionDecision"))
    source = word(decided.get("source"))
    match decided.get("decision"):
        case "accept" | "allow" | "allowed" | "approve":
            return Ruling(True, source)
        case "reject" | "deny" | "denied":
            return Ruling(False, source)
        case _:
            return None


def _record(line: bytes) -> Object:
    try:
        return as_object(load_json(line))
    except ValueError:
        return {}


def _is_turn(record: Object) -> bool:
    """Whether somebody said something in the main conversation, and not only the client to itself.

    An agent's words inside a subagent are told elsewhere or marked.
    """
    return (
        record.get("type") in _TURNS
        and record.get("isSidechain") is not True
        and record.get("isMeta") is not True
    )


def _blocks(record: Object) -> list[Object]:
    return objects(as_object(record.get("message")).get("content"))


def _texts(record: Object) -> list[str]:
    content = as_object(record.get("message")).get("content")
    if isinstance(content, str):
        return [content]
    return [text for one in _blocks(record) if isinstance(text := one.get("text"), str)]
