"""The end of a transcript: a tool call's result, who decided about it, and whether the turn is
over.

Transcripts contain people's prompts and files. They are read here, never stored, and only their
end.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, objects
from callboard.vendors.fields import text, word
from callboard.vendors.turns import TurnEnd, last_lines, millis, record_in

LONGEST_END: Final = 1024 * 1024
"""How much of a transcript to search. A result is written moments before we look for it."""
_KEPT: Final = 4
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")

_BY_PERSON: Final = "user-rejected"
_INTERRUPTED: Final = frozenset({"interrupted", "cancelled"})
_ACCEPTED: Final = frozenset({"accept", "allow", "allowed", "approve"})
_SAID: Final = "the user said:\n"
"""The text before a person's message in the result of a call that they declined."""
_ESC: Final = "[Request interrupted by user"
"""The start of the record that Esc leaves. The rest says what was interrupted."""
_LAST_WORDS: Final = frozenset({"end_turn", "stop_sequence", "refusal"})
"""Stop reasons of a model that calls no tool."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a tool call, as the conversation continues with it.

    allowed: None if its dialog was left, or if the call was interrupted while running: the client
        writes the same for both.
    via: where it was decided: `terminal`, `hook`, or a source in the client's own words; None if
        the transcript doesn't say.
    at_ms: when it was written; None if the record doesn't say.
    message: what the person wrote with a no. answers: the answers to questions.
    """

    allowed: bool | None
    via: str | None = None
    at_ms: int | None = None
    message: str | None = None
    answers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call. at_ms: when the model made it; None if the record doesn't say."""

    use: str
    tool: str
    input: Json
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class End:
    """The end of a transcript: calls, oldest first, and results by the call's id.

    turn: how the last turn ended; None while it continues.
    """

    calls: tuple[ToolUse, ...] = ()
    results: Mapping[str, CallResult] = field(default_factory=dict[str, CallResult])
    turn: TurnEnd | None = None


def subagent_transcript(path: str, subagent: str) -> str | None:
    """Where a subagent's own transcript is; None if its id can't be part of a file's name."""
    if not _ID.fullmatch(subagent):
        return None
    return str(Path(path).with_suffix("") / "subagents" / f"agent-{subagent}.jsonl")


def call_result(path: str | Path, tool_use_id: str) -> CallResult | None:
    """The result of this call; None if the transcript doesn't have it yet."""
    return read_end(path).results.get(tool_use_id)


def calls_of(path: str | Path, tool: str) -> list[ToolUse]:
    """The model's last calls of a tool, oldest first."""
    return [call for call in read_end(path).calls if call.tool == tool]


def turn_end(path: str | Path) -> TurnEnd | None:
    """How the last turn ended; None while it continues, or if the transcript doesn't say."""
    return read_end(path).turn


def read_end(path: str | Path) -> End:
    """The end of a transcript; empty if it can't be read."""
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
"""The last few results, because a person waiting for an outcome causes frequent reads."""


def _end(lines: list[bytes]) -> End:
    """Parse lines. The first may be cut off and the last half written: neither is JSON then."""
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
    """Whether the conversation's last record ends the turn."""
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
    """Where a permission was decided, according to a record: `terminal` for the person."""
    source = word(decision.get("source"))
    return "terminal" if source is not None and source.startswith("user") else source


def _blocks(record: Object) -> list[Object]:
    return objects(as_object(record.get("message")).get("content"))
