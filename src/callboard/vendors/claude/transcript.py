"""The end of a transcript: what became of a tool's call, and who decided about it.

Transcripts hold prompts and files of people. They are read here, never kept, and only their end.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from callboard.events.codec import load_json
from callboard.vendors.fields import Object, as_object, objects, text, word

LONGEST_END: Final = 1024 * 1024
"""How much of a transcript is searched. A result is written moments before it is looked for."""

_BY_PERSON: Final = "user-rejected"
_INTERRUPTED: Final = frozenset({"interrupted", "cancelled"})
_ACCEPTED: Final = frozenset({"accept", "allow", "allowed", "approve"})
_SAID: Final = "the user said:\n"
"""What stands before a person's words in the result of a call that they declined."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call of a tool, as the conversation goes on with it.

    allowed: None when its dialog was left, or when the call was interrupted while it ran: the
        client writes the same about both.
    via: where it was decided: `terminal`, `hook`, or a source in the client's own words; None when
        the transcript does not say.
    message: what the person wrote beside a no. answers: what questions were answered with.
    """

    allowed: bool | None
    via: str | None = None
    message: str | None = None
    answers: Mapping[str, str] | None = None


def call_result(path: str | Path, tool_use_id: str) -> CallResult | None:
    """What became of this call; None while the transcript does not say."""
    for line in reversed(_lines(path)):
        # By bytes first: of a megabyte, few lines are about this call.
        if tool_use_id.encode() not in line or b"tool_result" not in line:
            continue
        record = _record(line)
        block = next((one for one in _blocks(record) if _is_result(one, tool_use_id)), None)
        if block is not None:
            return _call_result(record, block)
    return None


def calls_of(path: str | Path, tool: str) -> list[tuple[str, Any]]:
    """The calls of a tool that the model made last, newest first: their ids and inputs."""
    found: list[tuple[str, Any]] = []
    for line in reversed(_lines(path)):
        if b'"tool_use"' in line:
            blocks = [one for one in _blocks(_record(line)) if _is_call(one, tool)]
            found += [(str(one["id"]), one.get("input")) for one in blocks]
    return found


def _call_result(record: Object, block: Object) -> CallResult:
    decision = as_object(record.get("permissionDecision"))
    source, denied = word(decision.get("source")), word(record.get("toolDenialKind"))
    via = "terminal" if source is not None and source.startswith("user") else source
    if decision.get("decision") in _ACCEPTED or (denied is None and not decision):
        told = as_object(as_object(record.get("toolUseResult")).get("answers"))
        answers = {key: given for key, one in told.items() if (given := text(one)) is not None}
        return CallResult(True, via, answers=answers or None)
    if denied in _INTERRUPTED:
        return CallResult(None, "terminal")
    if denied == _BY_PERSON:
        said = text(str(block.get("content")).partition(_SAID)[2])
        return CallResult(None if said is None else False, "terminal", message=said)
    return CallResult(False, via)


def _is_result(block: Object, tool_use_id: str) -> bool:
    return block.get("type") == "tool_result" and block.get("tool_use_id") == tool_use_id


def _is_call(block: Object, tool: str) -> bool:
    return (
        block.get("type") == "tool_use"
        and block.get("name") == tool
        and word(block.get("id")) is not None
    )


def _lines(path: str | Path) -> list[bytes]:
    """The last lines. The very last may be half written, and the first of them half cut off."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as reading:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return []
            reading.seek(max(0, found.st_size - LONGEST_END))
            return reading.read(LONGEST_END).split(b"\n")
    except (OSError, ValueError):
        return []


def _record(line: bytes) -> Object:
    try:
        return as_object(load_json(line))
    except ValueError:
        return {}


def _blocks(record: Object) -> list[Object]:
    return objects(as_object(record.get("message")).get("content"))
