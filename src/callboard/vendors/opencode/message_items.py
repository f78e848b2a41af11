"""What a message of opencode and its parts show of a conversation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.vendors.conversation import (
    ConversationItem,
    FileEdit,
    ItemImage,
    TokenUsage,
    ToolRun,
    ToolStatus,
)
from callboard.vendors.diffs import created, edits_in_patch, replaced, without_header
from callboard.vendors.fields import LONGEST_PATH, word

_STATUSES: Final[dict[str, ToolStatus]] = {"completed": "done", "error": "failed"}
_DENIED: Final = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "The user dismissed",
)
_ABORTED: Final = "MessageAbortedError"


def items_of(
    message_id: str, created_ms: int, message: Object, parts: Sequence[tuple[str, Object]]
) -> list[ConversationItem]:
    """The items of a message. parts: its parts in order, with their ids."""
    usage = _usage(message_id, message)
    found = [item for id, part in parts for item in _part(id, part, message)]
    found += _error(message_id, message)
    if usage is not None and not any(item.author == "model" for item in found):
        found.append(ConversationItem(f"{message_id}:usage", None, "usage", "model", ""))
    last = max((n for n, item in enumerate(found) if item.author == "model"), default=None)
    return [
        replace(
            item,
            at=created_ms if item.at is None else item.at,
            usage=usage if number == last else None,
        )
        for number, item in enumerate(found)
    ]


def _usage(message_id: str, message: Object) -> TokenUsage | None:
    told = as_object(message.get("tokens"))
    if message.get("role") != "assistant" or not told:
        return None
    cache = as_object(told.get("cache"))
    cost = message.get("cost")
    usage = TokenUsage(
        word(message.get("modelID")),
        as_whole(told.get("input")),
        as_whole(told.get("output")) + as_whole(told.get("reasoning")),
        as_whole(cache.get("read")),
        as_whole(cache.get("write")),
        float(cost) if isinstance(cost, int | float) else None,
        call=message_id,
    )
    return usage if usage.input_tokens or usage.output_tokens or usage.cost else None


def _error(message_id: str, message: Object) -> list[ConversationItem]:
    error = as_object(message.get("error"))
    if not error:
        return []
    told = as_text(as_object(error.get("data")).get("message"))
    name = as_text(error.get("name"))
    text = "Interrupted" if name == _ABORTED else told or name or "Failed"
    return [ConversationItem(f"{message_id}:error", None, "notice", "client", text)]


def _part(id: str, part: Object, message: Object) -> Iterator[ConversationItem]:
    at = as_whole(as_object(part.get("time")).get("start")) or None
    text = as_text(part.get("text"))
    match part.get("type"):
        case "text" if text:
            yield from _text(id, at, part, message)
        case "reasoning" if text:
            yield ConversationItem(id, at, "thinking", "model", text)
        case "tool":
            state = as_object(part.get("state"))
            at = as_whole(as_object(state.get("time")).get("start")) or None
            tool = _tool(as_text(part.get("tool")), state)
            images = _images(objects(state.get("attachments")))
            yield ConversationItem(id, at, "tool", "model", "", tool, images=images)
        case "file" if part.get("synthetic") is not True:
            if images := _images([part]):
                yield ConversationItem(id, at, "prompt", "person", "", images=images)
        case "compaction":
            yield ConversationItem(id, at, "compaction", "client", "Context compacted")
        case "retry":
            told = as_object(as_object(part.get("error")).get("data"))
            said = as_text(told.get("message")) or "The model's service failed. Trying again."
            yield ConversationItem(id, at, "notice", "client", said)
        case _:
            return


def _text(id: str, at: int | None, part: Object, message: Object) -> Iterator[ConversationItem]:
    text = as_text(part.get("text"))
    if message.get("role") == "assistant":
        is_summary = message.get("summary") is True
        kind = "compaction" if is_summary else "reply"
        yield ConversationItem(id, at, kind, "client" if is_summary else "model", text)
    elif part.get("synthetic") is not True and part.get("ignored") is not True:
        yield ConversationItem(id, at, "prompt", "person", text)
    elif text.startswith("<task "):  # What a subagent in the background reports.
        yield ConversationItem(id, at, "prompt", "program", text)


def _tool(name: str, state: Object) -> ToolRun:
    status = _STATUSES.get(as_text(state.get("status")), "running")
    told, given = as_object(state.get("metadata")), as_object(state.get("input"))
    error, output = as_text(state.get("error")), state.get("output")
    if status == "failed" and error.startswith(_DENIED):
        status = "denied"
    elif status == "done" and told.get("exit") not in (None, 0):
        status = "failed"
    result = error or (output if isinstance(output, str) else None)
    command = as_text(given.get("command")) if name == "bash" else ""
    edits = _done(told) or _planned(name, given)
    subagent = word(told.get("sessionId")) if name == "task" else None
    return ToolRun(name, state.get("input"), command or None, result, status, edits, subagent)


def _done(told: Object) -> list[FileEdit]:
    """What a call has changed."""
    changed = objects(told.get("files")) or [as_object(told.get("filediff"))]
    found = list[FileEdit]()
    for one in changed:
        path = word(one.get("filePath") or one.get("file") or one.get("relativePath"), LONGEST_PATH)
        diff = without_header(as_text(one.get("patch")) or as_text(one.get("diff")))
        if path and diff:
            found.append(FileEdit(path, diff))
    return found


def _planned(name: str, given: Object) -> list[FileEdit]:
    if name == "apply_patch":
        return edits_in_patch(as_text(given.get("patchText")))
    path = word(given.get("filePath"), LONGEST_PATH)
    if path is None:
        return []
    if isinstance(new := given.get("newString"), str):
        return [FileEdit(path, replaced(as_text(given.get("oldString")), new))]
    content = given.get("content")
    return [FileEdit(path, created(content))] if isinstance(content, str) else []


def _images(files: Sequence[Object]) -> list[ItemImage]:
    found = list[ItemImage]()
    for file in files:
        kind, url = as_text(file.get("mime")), as_text(file.get("url"))
        if kind.startswith("image/"):
            found.append(ItemImage(kind, url.partition(";base64,")[2] or None))
    return found
