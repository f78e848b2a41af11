"""Claude Code's transcripts: a file for each session, and one for each of its subagents."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole, objects
from callboard.vendors.claude.home import home
from callboard.vendors.claude.sidechains import is_sidechain, members, started
from callboard.vendors.claude.tool_runs import called, returned
from callboard.vendors.conversation import (
    Author,
    ConversationItem,
    ConversationPlace,
    ItemImage,
    TokenUsage,
)
from callboard.vendors.fields import word
from callboard.vendors.line_conversation import LineConversation
from callboard.vendors.turns import millis

_NOISE: Final = re.compile(
    rb'\{"type":\s*"(?:api-request|file-history|queue-operation|last-prompt|mode|permission-mode'
    rb'|tools-used)|.{0,160}?"attachment":\s*\{"type":\s*"(?!queued_command|hook_)'
)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ESC: Final = "[Request interrupted by user"
_PEER: Final = "Another Claude session sent a message:\n"
_AFTER_PEER: Final = "\n\nThis came from another Claude session"
_OUTPUTS: Final = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
_PRINTED: Final = tuple(f"<{name}>" for name in _OUTPUTS)
_FROM_HOOKS: Final[Mapping[str, Author]] = {
    "hook_additional_context": "program",
    "hook_success": "program",
    "hook_blocking_error": "program",
    "hook_system_message": "client",
}
"""What hooks add to a conversation: for the model, or for the person."""
_BY_PROGRAM: Final = ("<task-notification>", "<system-reminder>", "Stop hook feedback:")


def conversation(place: ConversationPlace) -> LineConversation:
    """The reader of a session, or of one of its subagents."""
    path = Path(place.path) if place.path else _find(place)
    if place.subagent is None:
        return LineConversation(str(path), _main, _NOISE)
    if not _NAME.fullmatch(place.subagent):
        raise TranscriptUnreadable(f"There is no subagent {place.subagent[:80]!r}.")
    if is_sidechain(place.subagent):
        return _sidechain(str(path), place.subagent)
    nested = path.with_suffix("") / "subagents" / f"agent-{place.subagent}.jsonl"
    return LineConversation(str(nested), _nested, _NOISE)


def _sidechain(path: str, subagent: str) -> LineConversation:
    own = members(path, subagent)

    def parse(record: Object, id: str) -> Sequence[ConversationItem]:
        # What they used is counted with their session, which has all records.
        found: Sequence[ConversationItem] = ()
        if record.get("uuid") in own:
            found = _nested(record, id)
        return [replace(item, usage=None) for item in found]

    return LineConversation(path, parse, _NOISE)


def _find(place: ConversationPlace) -> Path:
    """Where the client puts the transcript of a session in this folder."""
    if not _NAME.fullmatch(place.session_id):
        raise TranscriptUnreadable(f"There is no session {place.session_id[:80]!r}.")
    folder = re.sub(r"[^A-Za-z0-9]", "-", place.folder)
    return home() / "projects" / folder / f"{place.session_id}.jsonl"


def _main(record: Object, id: str) -> Sequence[ConversationItem]:
    if record.get("isSidechain") is not True:
        return _nested(record, id)
    usage = _usage(record)  # Older versions wrote what subagents do into the same file.
    if usage is None:
        return []
    id, at = word(record.get("uuid")) or id, millis(record.get("timestamp"))
    return [ConversationItem(id, at, "usage", "model", "", usage=usage)]


def _nested(record: Object, id: str) -> Sequence[ConversationItem]:
    id = word(record.get("uuid")) or id
    at = millis(record.get("timestamp"))
    match record.get("type"):
        case "assistant":
            found = _said(record, id)
        case "user":
            found = _heard(record, id)
        case "attachment":
            found = _attached(as_object(record.get("attachment")), id)
        case "system":
            found = _noticed(record, id)
        case _:
            return []
    return [replace(item, at=at) for item in found]


def _said(record: Object, id: str) -> Iterator[ConversationItem]:
    message = as_object(record.get("message"))
    usage = _usage(record)
    is_notice = record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
    for number, block in enumerate(objects(message.get("content"))):
        own_id = f"{id}:{number}" if number else id
        kind, text = block.get("type"), as_text(block.get("text"))
        if kind == "text" and text and is_notice:
            yield ConversationItem(own_id, None, "notice", "client", text)
        elif kind == "text" and text:
            yield ConversationItem(own_id, None, "reply", "model", text, usage=usage)
        elif kind == "thinking" and (thought := as_text(block.get("thinking"))):
            yield ConversationItem(own_id, None, "thinking", "model", thought, usage=usage)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            use = word(block.get("id")) or own_id
            tool = called(as_text(block.get("name")), block.get("input"))
            tool = replace(tool, subagent=started(record, block))
            yield ConversationItem(use, None, "tool", "model", "", tool, usage)


def _usage(record: Object) -> TokenUsage | None:
    message = as_object(record.get("message"))
    told = as_object(message.get("usage"))
    # A fork starts with a copy of the other session, which has used these tokens.
    if not told or message.get("model") == "<synthetic>" or "forkedFrom" in record:
        return None
    created = as_object(told.get("cache_creation"))
    return TokenUsage(
        word(message.get("model")),
        as_whole(told.get("input_tokens")),
        as_whole(told.get("output_tokens")),
        as_whole(told.get("cache_read_input_tokens")),
        as_whole(told.get("cache_creation_input_tokens")),
        call=word(message.get("id")),
        long_cache_write_tokens=as_whole(created.get("ephemeral_1h_input_tokens")),
    )


def _heard(record: Object, id: str) -> Iterator[ConversationItem]:
    content = as_object(record.get("message")).get("content")
    blocks = objects(content)
    text = content if isinstance(content, str) else _text_of(blocks)
    for block in blocks:
        if block.get("type") == "tool_result" and (use := word(block.get("tool_use_id"))):
            tool = returned(record, block)
            images = _images(objects(block.get("content")))
            yield ConversationItem(use, None, "tool", "model", "", tool, images=images)
    images = _images(blocks)
    if text or images:
        yield from _prompted(record, id, text, images)


def _prompted(
    record: Object, id: str, text: str, images: list[ItemImage]
) -> Iterator[ConversationItem]:
    """What a message that isn't a result is: a prompt, mostly."""
    origin = as_text(as_object(record.get("origin")).get("kind"))
    if record.get("isCompactSummary") is True:
        boundary = word(record.get("parentUuid")) or id
        yield ConversationItem(boundary, None, "compaction", "client", text)
    elif text.startswith(_ESC):
        yield ConversationItem(id, None, "notice", "client", text)
    elif text.startswith(_PRINTED):
        printed = "\n".join(_inside(text, name).strip() for name in _OUTPUTS).strip()
        if printed:
            yield ConversationItem(id, None, "notice", "client", printed)
    elif record.get("turnCompanion") is True:
        return
    elif record.get("isMeta") is True and not origin and not text.startswith(_BY_PROGRAM):
        return  # What the client adds to a prompt, such as the text of a skill.
    else:
        text, author = _attributed(text, origin)
        yield ConversationItem(id, None, "prompt", author, text, images=images)


def _attributed(text: str, origin: str) -> tuple[str, Author]:
    """What was written, without what the client adds to it, and by whom."""
    if origin == "peer":
        text = text.removeprefix(_PEER).partition(_AFTER_PEER)[0]
        return _inside(text, "cross-session-message").strip("\n") or text, "program"
    if origin not in ("", "human") or text.startswith(_BY_PROGRAM):
        return text, "program"
    if text.startswith("<command-"):
        command = f"{_inside(text, 'command-name')} {_inside(text, 'command-args')}"
        return command.strip() or text, "person"
    if text.startswith("<bash-input>"):
        return f"! {_inside(text, 'bash-input')}", "person"
    return text, "person"


def _inside(text: str, tag: str) -> str:
    """What is between a tag and its end; empty if the text has none."""
    attributes = text.partition(f"<{tag}")[2].partition(">")
    return attributes[2].partition(f"</{tag}>")[0]


def _attached(attachment: Object, id: str) -> Iterator[ConversationItem]:
    """What a person or program wrote in the middle of a turn, and what hooks added."""
    kind = as_text(attachment.get("type"))
    if kind == "queued_command":
        prompt = attachment.get("prompt")
        origin = as_text(as_object(attachment.get("origin")).get("kind"))
        given = prompt if isinstance(prompt, str) else _text_of(objects(prompt))
        text, author = _attributed(given, origin)
        images = _images(objects(prompt))
        yield ConversationItem(id, None, "prompt", author, text, images=images)
    elif kind in _FROM_HOOKS and _is_heard(attachment):
        author, text = _FROM_HOOKS[kind], _hook_text(attachment)
        if text:
            shown = "prompt" if author == "program" else "notice"
            yield ConversationItem(id, None, shown, author, text)


def _is_heard(attachment: Object) -> bool:
    """Whether it isn't written as a prompt, too, and not only printed by a hook that succeeded."""
    event = attachment.get("hookEvent")
    if attachment.get("type") == "hook_success":
        return event in ("UserPromptSubmit", "SessionStart", "SubagentStart")
    return event != "Stop"


def _hook_text(attachment: Object) -> str:
    blocking = as_object(attachment.get("blockingError")).get("blockingError")
    content = blocking or attachment.get("content")
    given = as_list(content) or [content]
    return "\n".join(one for one in given if isinstance(one, str)).strip()


def _noticed(record: Object, id: str) -> Iterator[ConversationItem]:
    kind, text = record.get("subtype"), as_text(record.get("content"))
    if kind == "compact_boundary":
        yield ConversationItem(id, None, "compaction", "client", text or "Conversation compacted")
    elif kind == "local_command":
        yield from _prompted(record, id, text, [])
    elif text and (kind == "informational" or record.get("level") in ("warning", "error")):
        yield ConversationItem(id, None, "notice", "client", text)


def _text_of(blocks: Sequence[Object]) -> str:
    texts = (as_text(block.get("text")) for block in blocks if block.get("type") == "text")
    return "\n".join(text for text in texts if text)


def _images(blocks: Sequence[Object]) -> list[ItemImage]:
    sources = (as_object(one.get("source")) for one in blocks if one.get("type") == "image")
    return [
        ItemImage(word(one.get("media_type")) or "image/png", as_text(one.get("data")) or None)
        for one in sources
    ]
