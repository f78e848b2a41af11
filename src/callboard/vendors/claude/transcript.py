"""The end of a transcript: what became of a tool's call, and who decided about it.

Transcripts hold prompts and files of people. They are read here, never kept, and only their end.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from callboard.events.codec import load_json
from callboard.events.moments import from_iso, to_ms
from callboard.vendors.fields import Object, as_object, objects, text, word

LONGEST_END: Final = 1024 * 1024
"""How much of a transcript is searched. A result is written moments before it is looked for."""
_KEPT: Final = 4

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
    at_ms: when it was written; None where the record does not say.
    message: what the person wrote beside a no. answers: what questions were answered with.
    """

    allowed: bool | None
    via: str | None = None
    at_ms: int | None = None
    message: str | None = None
    answers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. at_ms: when the model made it; None where the record does not say."""

    use: str
    tool: str
    input: Any
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class End:
    """What the end of a transcript holds: calls, oldest first, and results by the call's id."""

    calls: tuple[Call, ...] = ()
    results: Mapping[str, CallResult] = field(default_factory=dict[str, CallResult])


def call_result(path: str | Path, tool_use_id: str) -> CallResult | None:
    """What became of this call; None while the transcript does not say."""
    return read_end(path).results.get(tool_use_id)


def calls_of(path: str | Path, tool: str) -> list[Call]:
    """The calls of a tool that the model made last, oldest first."""
    return [call for call in read_end(path).calls if call.tool == tool]


def read_end(path: str | Path) -> End:
    """The end of a transcript; empty when it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                return _NOTHING
            version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            return _parsed.get(version) or _read(file, version)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return _NOTHING


_NOTHING: Final = End()
_Version = tuple[int, int, int, int]
_parsed: Final[dict[_Version, End]] = {}
"""A few ends that were read last: while a person waits for an outcome, it is looked for often."""


def _read(file: int, version: _Version) -> End:
    size = version[2]
    text = os.pread(file, LONGEST_END, max(0, size - LONGEST_END))
    while len(_parsed) >= _KEPT:
        del _parsed[next(iter(_parsed))]
    _parsed[version] = _end(text.split(b"\n"))
    return _parsed[version]


def _end(lines: list[bytes]) -> End:
    """The very last line may be half written, and the first half cut off: neither is JSON."""
    calls: list[Call] = []
    results: dict[str, CallResult] = {}
    for line in lines:
        if b"tool_use" not in line:
            continue
        record = _record(line)
        at_ms = _millis(record.get("timestamp"))
        for block in _blocks(record):
            use = word(block.get("id"))
            if block.get("type") == "tool_use" and use is not None:
                tool = word(block.get("name")) or ""
                calls.append(Call(use, tool, block.get("input"), at_ms))
            answered = word(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and answered is not None:
                results[answered] = _call_result(record, block, at_ms)
    return End(tuple(calls), results)


def _millis(moment: Any) -> int | None:
    try:
        return to_ms(from_iso(moment)) if isinstance(moment, str) else None
    except (ValueError, OverflowError):
        return None


def _call_result(record: Object, block: Object, at_ms: int | None) -> CallResult:
    decision = as_object(record.get("permissionDecision"))
    source, denied = word(decision.get("source")), word(record.get("toolDenialKind"))
    via = "terminal" if source is not None and source.startswith("user") else source
    if decision.get("decision") in _ACCEPTED or (denied is None and not decision):
        told = as_object(as_object(record.get("toolUseResult")).get("answers"))
        answers = {key: given for key, one in told.items() if (given := text(one)) is not None}
        return CallResult(True, via, at_ms, answers=answers or None)
    if denied in _INTERRUPTED:
        return CallResult(None, "terminal", at_ms)
    if denied == _BY_PERSON:
        said = text(str(block.get("content")).partition(_SAID)[2])
        return CallResult(None if said is None else False, "terminal", at_ms, message=said)
    return CallResult(False, via, at_ms)


def _record(line: bytes) -> Object:
    try:
        return as_object(load_json(line))
    except ValueError:
        return {}


def _blocks(record: Object) -> list[Object]:
    return objects(as_object(record.get("message")).get("content"))
