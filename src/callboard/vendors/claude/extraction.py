"""The conversation in a Claude Code session, read from its transcript."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import orjson

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, objects
from callboard.vendors.claude.transcript import decided_in
from callboard.vendors.fields import word
from callboard.vendors.turns import last_lines, record_in

LONGEST: Final = 32 * 1_048_576
"""Bytes. Only the end of a longer transcript is read."""

_ACCEPTED: Final = ("accept", "allow")
_REFUSED: Final = ("user rejected", "doesn't want to", "rejected")


@dataclass(frozen=True, slots=True)
class Spoken:
    """An entry in a conversation.

    kind: `person` and `agent` are messages; `call` is a tool that the agent used, with its name
        and input; `result` is its result; `accepted` is a decision that took effect, as it was
        called, and `refused` one that didn't; `error` is a message by the client in the agent's
        place.
    use: the client's id of a call, or of the call that was accepted.
    via: who accepted it: `terminal` for the person in the client's dialog, otherwise the
        client's own word for it.
    """

    kind: Literal["person", "agent", "call", "result", "accepted", "refused", "error"]
    text: str
    tool: str = ""
    use: str = ""
    via: str | None = None


def spoken(path: Path, deciding: str) -> list[Spoken]:
    """The conversation, oldest first, without unreadable parts. deciding: a tool's name."""
    calls: dict[str, Spoken] = {}
    found: list[Spoken] = []
    for record in _records(path):
        found += _of(record, calls, deciding)
    return found


def working_directory(path: Path) -> Path | None:
    """The session's working folder: the client resumes it only there."""
    for record in _records(path):
        if cwd := word(record.get("cwd"), 4096):
            return Path(cwd)
    return None


def _records(path: Path) -> Iterator[Object]:
    for line in last_lines(path, LONGEST):
        record = record_in(line)
        if record.get("isSidechain") is not True and record.get("isMeta") is not True:
            yield record


def _of(record: Object, calls: dict[str, Spoken], deciding: str) -> Iterator[Spoken]:
    speaker = record.get("type")
    content = as_object(record.get("message")).get("content")
    if speaker == "assistant":
        yield from _by_agent(record, content, calls)
    elif speaker == "user" and isinstance(content, str):
        yield Spoken("person", content)
    elif speaker == "user":
        yield from _by_person(record, content, calls, deciding)


def _by_agent(record: Object, content: Json, calls: dict[str, Spoken]) -> Iterator[Spoken]:
    kind = "error" if record.get("isApiErrorMessage") is True else "agent"
    for block in objects(content):
        if block.get("type") == "text":
            yield Spoken(kind, str(block.get("text", "")))
        elif block.get("type") == "tool_use":
            given = orjson.dumps(block.get("input")).decode()
            use = str(block.get("id"))
            called = Spoken("call", given, str(block.get("name", "")), use)
            calls[use] = called
            yield called


def _by_person(
    record: Object, content: Json, calls: dict[str, Spoken], deciding: str
) -> Iterator[Spoken]:
    for block in objects(content):
        if block.get("type") == "text":
            yield Spoken("person", str(block.get("text", "")))
        elif block.get("type") == "tool_result":
            called = calls.get(str(block.get("tool_use_id")))
            tool = "" if called is None else called.tool
            if tool == deciding and _was_refused(record):
                yield Spoken("refused", "", tool)
            elif called is not None and tool == deciding and block.get("is_error") is not True:
                yield Spoken("accepted", called.text, tool, called.use, _via(record))
            yield Spoken("result", _text(block.get("content")), tool)


def _was_refused(record: Object) -> bool:
    if word(record.get("toolDenialKind")) is not None:
        return True
    told = record.get("toolUseResult")
    return isinstance(told, str) and any(one in told.casefold() for one in _REFUSED)


def _via(record: Object) -> str | None:
    decided = as_object(record.get("permissionDecision"))
    return decided_in(decided) if decided.get("decision") in _ACCEPTED else None


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(one.get("text", "")) for one in objects(content) if "text" in one)
