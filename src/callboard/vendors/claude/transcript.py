"""The end of a transcript: what became of a tool's call, who decided about it, and whether the turn
is over.

Transcripts hold prompts and files of people. They are read here, never kept, and only their end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, objects
from callboard.vendors.fields import text, word
from callboard.vendors.turns import TurnEnd, last_lines, millis, record_in

LONGEST_END: Final = 1024 * 1024
"""How much of a transcript is searched. A result is written moments before it is looked for."""
_KEPT: Final = 4

_BY_PERSON: Final = "user-rejected"
_INTERRUPTED: Final = frozenset({"interrupted", "cancelled"})
_ACCEPTED: Final = frozenset({"accept", "allow", "allowed", "approve"})
_SAID: Final = "the user said:\n"
"""What stands before a person's words in the result of a call that they declined."""
_ESC: Final = "[Request interrupted by user"
"""How the record starts that Esc leaves. What follows says what was interrupted."""
_LAST_WORDS: Final = frozenset({"end_turn", "stop_sequence", "refusal"})
"""Why a model stops speaking when it wants no tool."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call of a tool, as the conversation continues with it.

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
class ToolUse:
    """A call of a tool. at_ms: when the model made it; None where the record does not say."""

    use: str
    tool: str
    input: Json
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class End:
    """What the end of a transcript holds: calls, oldest first, and results by the call's id.

    turn: how the last turn ended; None while it continues.
    """

    calls: tuple[ToolUse, ...] = ()
    results: Mapping[str, CallResult] = field(default_factory=dict[str, CallResult])
    turn: TurnEnd | None = None


def call_result(path: str | Path, tool_use_id: str) -> CallResult | None:
    """What became of this call; None while the transcript does not say."""
    return read_end(path).results.get(tool_use_id)


def calls_of(path: str | Path, tool: str) -> list[ToolUse]:
    """The calls of a tool that the model made last, oldest first."""
    return [call for call in read_end(path).calls if call.tool == tool]


def turn_end(path: str | Path) -> TurnEnd | None:
    """How the last turn ended; None while it continues, and when the transcript does not say."""
    return read_end(path).turn


def read_end(path: str | Path) -> End:
    """The end of a transcript; empty when it cannot be read."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return End()
    version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if version not in _parsed:
        lines = last_lines(path, LONGEST_END)
        if not lines:
            return End()
        while len(_parsed) >= _KEPT:
            del _parsed[next(iter(_parsed))]
        _parsed[version] = _end(lines)
    return _parsed[version]


_parsed: Final[dict[tuple[int, int, int, int], End]] = {}
"""A few ends that were read last: while a person waits for an outcome, it is looked for often."""


def _end(lines: list[bytes]) -> End:
    """The very last line may be half written, and the first half cut off: neither is JSON."""
    calls: list[ToolUse] = []
    results: dict[str, CallResult] = {}
    for line in lines:
        if b"tool_use" not in line:
            continue
        record = record_in(line)
        at_ms = millis(record.get("timestamp"))
        for block in _blocks(record):
            use = word(block.get("id"))
            if block.get("type") == "tool_use" and use is not None:
                tool = word(block.get("name")) or ""
                calls.append(ToolUse(use, tool, block.get("input"), at_ms))
            answered = word(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and answered is not None:
                results[answered] = _call_result(record, block, at_ms)
    return End(tuple(calls), results, _turn_end(lines))


def _turn_end(lines: list[bytes]) -> TurnEnd | None:
    """The last record of the conversation says whether more is to come."""
    for line in reversed(lines):
        if not any(kind in line for kind in (b'"user"', b'"assistant"')):
            continue
        record = record_in(line)
        kind, at_ms = record.get("type"), millis(record.get("timestamp"))
        if kind not in ("user", "assistant") or record.get("isSidechain") or record.get("isMeta"):
            continue
        message = as_object(record.get("message"))
        interrupted = kind == "user" and any(
            str(block.get("text")).startswith(_ESC) for block in _blocks(record)
        )
        is_over = interrupted or (kind == "assistant" and message.get("stop_reason") in _LAST_WORDS)
        return TurnEnd(at_ms, interrupted) if is_over and at_ms is not None else None
    return None


def _call_result(record: Object, block: Object, at_ms: int | None) -> CallResult:
    decision = as_object(record.get("permissionDecision"))
    denied, via = word(record.get("toolDenialKind")), decided_in(decision)
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


def decided_in(decision: Object) -> str | None:
    """Where a permission was decided, as a record says: `terminal` for its person."""
    source = word(decision.get("source"))
    return "terminal" if source is not None and source.startswith("user") else source


def _blocks(record: Object) -> list[Object]:
    return objects(as_object(record.get("message")).get("content"))
