"""Claude Code's tool calls and their results, as its transcripts have them."""

from collections.abc import Sequence
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole, objects
from callboard.vendors.conversation import FileEdit, ToolRun, ToolStatus
from callboard.vendors.diffs import created, replaced
from callboard.vendors.fields import LONGEST_PATH, word

_ACCEPTED: Final = frozenset({"accept", "allow", "allowed", "approve"})
_INTERRUPTED: Final = frozenset({"interrupted", "cancelled"})
_OWN_COMMANDS: Final = frozenset({"Bash", "PowerShell"})


def called(name: str, input: Json) -> ToolRun:
    """A call, before its result is known. Its edits are what it is about to change."""
    given = as_object(input)
    command = as_text(given.get("command")) if name in _OWN_COMMANDS else ""
    return ToolRun(name, input, command or None, None, "running", _planned(given))


def returned(record: Object, block: Object) -> ToolRun:
    """The result of a call."""
    told = as_object(record.get("toolUseResult"))
    subagent = word(told.get("agentId"))
    # The result of a subagent has more around it, for the model.
    content = (told.get("content") if subagent else None) or block.get("content")
    parts = [as_text(one.get("text")) for one in objects(content) if one.get("type") == "text"]
    result = content if isinstance(content, str) else "\n".join(parts)
    return ToolRun("", None, None, result, _status(record, block), _done(told), subagent)


def _status(record: Object, block: Object) -> ToolStatus:
    denied = word(record.get("toolDenialKind"))
    decision = word(as_object(record.get("permissionDecision")).get("decision"))
    if denied is not None:
        return "failed" if denied in _INTERRUPTED else "denied"
    if decision is not None and decision not in _ACCEPTED:
        return "denied"
    return "failed" if block.get("is_error") is True else "done"


def _planned(given: Object) -> list[FileEdit]:
    """What a call of Write, Edit or MultiEdit is about to change."""
    path = word(given.get("file_path"), LONGEST_PATH)
    if path is None:
        return []
    if isinstance(content := given.get("content"), str):
        return [FileEdit(path, created(content))]
    edits = objects(given.get("edits")) or [given]
    diffs = [
        replaced(as_text(one.get("old_string")), as_text(one.get("new_string")))
        for one in edits
        if isinstance(one.get("new_string"), str)
    ]
    return [FileEdit(path, "".join(diffs))] if diffs else []


def _done(told: Object) -> list[FileEdit]:
    """What a call has changed, as the client says."""
    path = word(told.get("filePath"), LONGEST_PATH)
    if path is None:
        return []
    if hunks := objects(told.get("structuredPatch")):
        return [FileEdit(path, "".join(_hunk(one) for one in hunks))]
    if told.get("type") == "create" and isinstance(content := told.get("content"), str):
        return [FileEdit(path, created(content))]
    return []


def _hunk(hunk: Object) -> str:
    old, new = _range(hunk, "oldStart", "oldLines"), _range(hunk, "newStart", "newLines")
    lines = _texts(as_list(hunk.get("lines")))
    return f"@@ -{old} +{new} @@\n" + "".join(f"{line}\n" for line in lines)


def _range(hunk: Object, start: str, lines: str) -> str:
    return f"{as_whole(hunk.get(start))},{as_whole(hunk.get(lines))}"


def _texts(values: Sequence[object]) -> list[str]:
    return [one for one in values if isinstance(one, str)]
