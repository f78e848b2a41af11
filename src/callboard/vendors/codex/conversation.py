"""Codex's transcripts: a file for each session, called rollout.

Messages and calls are in it twice: as the model's API has them, which is what is read here, and as
the client shows them, which is read where it says more: about commands and changes of files.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.vendors.codex.subagents import own_start
from callboard.vendors.codex.tool_runs import called, image_in, reported, returned
from callboard.vendors.conversation import Author, ConversationItem, ConversationPlace, TokenUsage
from callboard.vendors.fields import word
from callboard.vendors.line_conversation import LineConversation
from callboard.vendors.turns import millis

_NOISE: Final = re.compile(
    rb'.{0,160}?"type":\s*"(?:session_meta|world_state|thread_settings_applied|task_started'
    rb'|task_complete)"'
)
_MODEL: Final = re.compile(rb'.{0,160}?"type":\s*"turn_context"')
_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_ADDED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
)
"""The starts of what the client adds to a conversation, where older versions don't say that."""


def conversation(place: ConversationPlace) -> LineConversation:
    """The reader of a session, or of one of its subagents, which have transcripts of their own."""
    if place.subagent is None:
        return LineConversation(place.path or _find(place.session_id), _parse, _NOISE, _MODEL)
    path = _beside(place, place.subagent) or _find(place.subagent)
    start = own_start(path, place.session_id, place.subagent)

    def parse(record: Object, id: str) -> Sequence[ConversationItem]:
        return _parse(record, id) if int(id.removeprefix("@")) >= start else []

    return LineConversation(path, parse, _NOISE, _MODEL)


def _beside(place: ConversationPlace, id: str) -> str | None:
    """The transcript of a subagent that started on the same day as its session."""
    if place.path is None or not _SESSION.fullmatch(id):
        return None
    found = Path(place.path).parent.glob(f"rollout-*-{id}.jsonl")
    return next(map(str, found), None)


def _find(session_id: str) -> str:
    """Where the client puts the transcript of a session."""
    given = os.environ.get("CODEX_HOME")
    home = Path(given).expanduser() if given else Path.home() / ".codex"
    if _SESSION.fullmatch(session_id):
        for found in (home / "sessions").glob(f"*/*/*/rollout-*-{session_id}.jsonl"):
            return str(found)
    raise TranscriptUnreadable(f"Codex has no transcript of session {session_id[:80]!r} yet.")


def _parse(record: Object, id: str) -> Sequence[ConversationItem]:
    payload = as_object(record.get("payload"))
    match record.get("type"):
        case "response_item":
            found = _said(payload, id)
        case "event_msg":
            found = _happened(payload, id)
        case "turn_context":
            usage = TokenUsage(word(payload.get("model")))
            found = iter([ConversationItem(id, None, "usage", "client", "", usage=usage)])
        case "token_usage_record":
            total = as_object(payload.get("thread_token_usage"))
            found = _usage(as_object(payload.get("usage")), total)
        case "compacted":
            text = as_text(payload.get("message")) or "Context compacted"
            found = iter([ConversationItem(id, None, "compaction", "client", text)])
        case _:
            return []
    at = millis(record.get("timestamp"))
    return [replace(item, at=at) for item in found]


def _said(payload: Object, id: str) -> Iterator[ConversationItem]:
    kind = as_text(payload.get("type"))
    own_id = word(payload.get("id")) or id
    use = word(payload.get("call_id")) or own_id
    if kind in ("message", "agent_message"):
        yield from _message(payload, own_id)
    elif kind == "reasoning":
        parts = objects(payload.get("summary")) or objects(payload.get("content"))
        if thought := _text_of(parts):
            yield ConversationItem(own_id, None, "thinking", "model", thought)
    elif kind in _CALLS:
        yield ConversationItem(use, None, "tool", "model", "", called(payload))
    elif kind in _RESULTS:
        tool, images = returned(payload)
        yield ConversationItem(use, None, "tool", "model", "", tool, images=images)
    elif kind == "web_search_call":
        tool = replace(called(payload), status="done", result="")
        yield ConversationItem(use, None, "tool", "model", "", tool)


def _message(payload: Object, id: str) -> Iterator[ConversationItem]:
    blocks = objects(payload.get("content"))
    text = _text_of(blocks)
    if payload.get("type") == "agent_message":
        # Between agents. What an agent is told is encrypted; it is in the call that tells it.
        if text := text.partition("\nPayload:\n")[2]:
            yield ConversationItem(id, None, "prompt", "program", text)
        return
    images = [image for block in blocks if (image := image_in(block)) is not None]
    if payload.get("role") == "assistant":
        if text:
            yield ConversationItem(id, None, "reply", "model", text)
        return
    author = _author(payload, text)
    if author is not None and (text or images):
        yield ConversationItem(id, None, "prompt", author, text, images=images)


def _author(payload: Object, text: str) -> Author | None:
    """Who wrote a message that isn't the model's; None if the client added it by itself."""
    told = as_object(payload.get("internal_chat_message_metadata_passthrough"))
    origins = [
        as_object(one.get("provenance")) for one in objects(told.get("content_item_metadata"))
    ]
    if any(origin.get("hook") is True for origin in origins) or text.startswith("<hook_prompt"):
        return "program"
    if payload.get("role") != "user" or text.startswith(_ADDED):
        return None
    if origins and all(origin.get("type") != "user" for origin in origins):
        return None
    # Other programs can add to a conversation through the client's app server.
    return "person" if origins or "content_item_kinds" not in told else "program"


def _happened(payload: Object, id: str) -> Iterator[ConversationItem]:
    """What the client reports."""
    kind, text = payload.get("type"), as_text(payload.get("message"))
    if kind == "item_completed":
        item = as_object(payload.get("item"))
        tool, use = reported(item), word(item.get("id"))
        if tool is not None and use is not None:
            yield ConversationItem(use, None, "tool", "model", "", tool)
    elif kind == "token_count":
        told = as_object(payload.get("info"))
        total = as_object(told.get("total_token_usage"))
        yield from _usage(as_object(told.get("last_token_usage")), total)
    elif kind == "turn_aborted":
        reason = as_text(payload.get("reason")) or "interrupted"
        yield ConversationItem(id, None, "notice", "client", f"Conversation {reason}")
    elif kind in ("error", "warning", "stream_error") and text:
        yield ConversationItem(id, None, "notice", "client", text)


def _usage(told: Mapping[str, object], total: Object) -> Iterator[ConversationItem]:
    """What a call took. The same is in two records: the conversation's total identifies it."""
    if not told:
        return
    cached = as_whole(told.get("cached_input_tokens"))
    written = as_whole(told.get("cache_write_input_tokens"))
    call = f"tokens-{as_whole(total.get('total_tokens'))}"
    usage = TokenUsage(
        None,
        max(0, as_whole(told.get("input_tokens")) - cached - written),
        as_whole(told.get("output_tokens")),
        cached,
        written,
        call=call,
    )
    yield ConversationItem(call, None, "usage", "model", "", usage=usage)


def _text_of(blocks: Sequence[Object]) -> str:
    texts = (as_text(block.get("text")) for block in blocks)
    return "\n".join(text for text in texts if text)
