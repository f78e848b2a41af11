"""Gemini CLI's transcripts: a file for each session, with a message in each line.

A message is written again with the same id when it grows. Subagents have files of their own in a
folder with the session's id.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPlace,
    FileEdit,
    ItemImage,
    TokenUsage,
    ToolRun,
    ToolStatus,
)
from callboard.vendors.diffs import created, replaced, without_header
from callboard.vendors.fields import LONGEST_PATH, word
from callboard.vendors.line_conversation import LineConversation
from callboard.vendors.turns import millis

_NOISE: Final = re.compile(rb'\{"\$set":\s*\{"(?!messages)[^{}]{0,200}\}\}|\{"sessionId":')
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_SHORT: Final = 8
_CONTEXT: Final = "<session_context>"
_SNAPSHOT: Final = "<state_snapshot>"
"""What a prompt has that the client wrote: its surroundings, and what a compaction kept."""
_HOOK: Final = "<hook_context>"
_UNTRUSTED: Final = "<untrusted_context>\nOutput: "
_STATUSES: Final[dict[str, ToolStatus]] = {
    "success": "done",
    "error": "failed",
    "cancelled": "failed",
}
_FAILED: Final = re.compile(r"^Exit Code: (?!0$)", re.MULTILINE)
_DENIED: Final = ("denied by", "rejected by", "User denied", "[Operation Cancelled] Reason: User")


def conversation(place: ConversationPlace) -> LineConversation:
    """The reader of a session, or of one of its subagents."""
    path = transcript_of(place.path, place.session_id)
    if place.subagent is None:
        return LineConversation(str(path), _parse, _NOISE)
    for name in (place.subagent, place.session_id):
        if not _NAME.fullmatch(name):
            raise TranscriptUnreadable(f"There is no subagent {name[:80]!r}.")
    nested = path.parent / place.session_id / f"{place.subagent}.jsonl"
    return LineConversation(str(nested), _parse, _NOISE)


def transcript_of(named: str | None, session_id: str) -> Path:
    """The transcript of a session: as hooks named it, or where the client puts it."""
    if named:
        return Path(named)
    given = os.environ.get("GEMINI_CLI_HOME")
    home = Path(given) if given else Path.home()
    if _NAME.fullmatch(session_id):
        pattern = f"*/chats/session-*-{session_id[:_SHORT]}.jsonl"
        for found in sorted((home / ".gemini" / "tmp").glob(pattern), reverse=True):
            return found
    raise TranscriptUnreadable(f"Gemini CLI has no transcript of session {session_id[:80]!r} yet.")


def _parse(record: Object, id: str) -> Sequence[ConversationItem]:
    if "$rewindTo" in record:
        text = "Rewound to an earlier prompt"
        return [ConversationItem(id, None, "notice", "client", text)]
    if "$set" in record:
        given = objects(as_object(record.get("$set")).get("messages"))
        numbered = enumerate(given)
        return [item for number, one in numbered for item in _message(one, f"{id}:{number}")]
    return list(_message(record, id))


def _message(record: Object, id: str) -> Iterator[ConversationItem]:
    id, at = word(record.get("id")) or id, millis(record.get("timestamp"))
    match record.get("type"):
        case "user":
            found = _asked(record, id)
        case "gemini":
            found = _said(record, id)
        case "info" | "warning" | "error":
            text = _text(record.get("content"))
            notice = ConversationItem(id, None, "notice", "client", text)
            found = iter([notice] if text else [])
        case _:
            return
    for item in found:
        yield replace(item, at=at)


def _asked(record: Object, id: str) -> Iterator[ConversationItem]:
    content = record.get("displayContent") or record.get("content")
    text, images = _text(content), _images(objects(content))
    if any("functionResponse" in part for part in objects(content)):
        return  # The message with the call has it, too.
    if text.startswith(_CONTEXT) or not (text or images):
        return
    if _SNAPSHOT in text:
        yield ConversationItem(id, None, "compaction", "client", text)
    else:
        yield ConversationItem(id, None, "prompt", "person", text, images=images)


def _said(record: Object, id: str) -> Iterator[ConversationItem]:
    usage, text = _usage(record, id), _text(record.get("content"))
    thoughts = [
        " ".join(filter(None, (as_text(one.get("subject")), as_text(one.get("description")))))
        for one in objects(record.get("thoughts"))
    ]
    if thought := "\n".join(filter(None, thoughts)):
        yield ConversationItem(f"{id}:thoughts", None, "thinking", "model", thought)
    if text:
        yield ConversationItem(id, None, "reply", "model", text, usage=usage)
    elif usage is not None:
        yield ConversationItem(f"{id}:usage", None, "usage", "model", "", usage=usage)
    for number, call in enumerate(objects(record.get("toolCalls"))):
        use = word(call.get("id")) or f"{id}:{number}"
        result = objects(call.get("result"))
        images = _images(result)
        yield ConversationItem(use, None, "tool", "model", "", _tool(call), images=images)
        if heard := _response(result).partition(_HOOK)[2].partition("</hook_context>")[0]:
            yield ConversationItem(f"{use}:hook", None, "prompt", "program", heard)


def _usage(record: Object, id: str) -> TokenUsage | None:
    told = as_object(record.get("tokens"))
    if not told:
        return None
    cached = as_whole(told.get("cached"))
    return TokenUsage(
        word(record.get("model")),
        max(0, as_whole(told.get("input")) - cached),
        as_whole(told.get("output")) + as_whole(told.get("thoughts")),
        cached,
        call=id,
    )


def _tool(call: Object) -> ToolRun:
    args = as_object(call.get("args"))
    status = _STATUSES.get(as_text(call.get("status")), "running")
    result = _result(objects(call.get("result")))
    if status == "failed" and any(sign in (result or "") for sign in _DENIED):
        status = "denied"
    elif status == "done" and _FAILED.search((result or "")[-200:]):
        status = "failed"
    name = as_text(call.get("name"))
    shown = as_object(call.get("resultDisplay"))
    command = as_text(args.get("command")) if name == "run_shell_command" else ""
    edits = _done(shown) or _planned(args)
    return ToolRun(
        name, call.get("args"), command or None, result, status, edits, word(call.get("agentId"))
    )


def _result(parts: Sequence[Object]) -> str | None:
    """What the model gets as the result, without what the client puts around it."""
    text = _response(parts).partition(f"\n\n{_HOOK}")[0]
    if text.startswith(_UNTRUSTED):
        text = text.removeprefix(_UNTRUSTED).partition("\n</untrusted_context>")[0]
        text = text.partition("\nProcess Group PGID:")[0]
    return text if parts else None


def _response(parts: Sequence[Object]) -> str:
    responses = [as_object(as_object(one.get("functionResponse")).get("response")) for one in parts]
    texts = [as_text(one.get("output")) or as_text(one.get("error")) for one in responses]
    return "\n".join(filter(None, texts))


def _done(shown: Object) -> list[FileEdit]:
    """What a call has changed, as the client shows it."""
    path = word(shown.get("filePath"), LONGEST_PATH) or word(shown.get("fileName"), LONGEST_PATH)
    diff = without_header(as_text(shown.get("fileDiff")))
    return [FileEdit(path, diff)] if path and diff else []


def _planned(args: Object) -> list[FileEdit]:
    path = word(args.get("file_path"), LONGEST_PATH)
    if path is None:
        return []
    if isinstance(new := args.get("new_string"), str):
        return [FileEdit(path, replaced(as_text(args.get("old_string")), new))]
    content = args.get("content")
    return [FileEdit(path, created(content))] if isinstance(content, str) else []


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = (as_text(part.get("text")) for part in objects(content) if not part.get("thought"))
    return "\n".join(filter(None, texts))


def _images(parts: Sequence[Object]) -> list[ItemImage]:
    given = (as_object(part.get("inlineData")) for part in parts)
    return [
        ItemImage(kind, as_text(one.get("data")) or None)
        for one in given
        if (kind := as_text(one.get("mimeType"))).startswith("image/")
    ]
