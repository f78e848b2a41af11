"""What agents that speak ACP say becomes one conversation, in whatever pieces they say it."""

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.board.boards import Board

from callboard.board.logged_conversations import LoggedConversations
from callboard.board.repeats import LARGEST
from callboard.events.json_values import as_object
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.acp.conversation import ConversationFold
from callboard.vendors.acp.payloads import translate
from callboard.vendors.acp.updates import LONGEST_RESULT, UpdateParts, joined
from callboard.vendors.conversation import ConversationItem, Window
from callboard.vendors.conversation_items import assembled

QUICK = settings(max_examples=25, deadline=None)
WORDS = st.sampled_from(
    [
        *("type", "sessionId", "update", "sessionUpdate", "content", "text", "toolCallId", "title"),
        *("status", "kind", "rawInput", "locations", "path", "diff", "entries", "options", "name"),
        *("optionId", "toolCall", "usage", "cost", "stopReason", "error", "agent", "data", "added"),
        *("prompt", "session", "permission", "answered", "turn", "notice", "end", "tool_call"),
        *("agent_message_chunk", "tool_call_update", "plan", "completed", "execute", "image"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(), inner, max_size=6)
    ),
    max_leaves=25,
)
OBJECTS = st.dictionaries(WORDS, JSON, max_size=8)
TEXTS = st.text(max_size=30) | st.builds(
    lambda text, times: text * times,
    st.text("ab漢\n", min_size=1, max_size=5),
    st.integers(1, 4000),
)


def said(kind: str, text: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def folded(payloads: list[dict[str, Any]]) -> list[ConversationItem]:
    fold = ConversationFold()
    for position, payload in enumerate(payloads, start=1):
        fold.add(position, 1_000 + position, payload)
    return [one.item for one in fold.items.values()]


@QUICK
@given(st.lists(TEXTS, max_size=6))
def test_a_text_is_the_same_however_it_was_sent_and_joined(texts: list[str]):
    whole = "".join(texts).encode("utf-8", "replace").decode()
    parts: list[dict[str, Any]] = []
    for text in texts:
        for part in UpdateParts().of(said("agent_message_chunk", text)):
            both = joined(parts[-1], part) if parts else None
            parts[-1:] = [both] if both else [*parts[-1:], part]
    assert all(len(json.dumps(one, ensure_ascii=False).encode()) < LARGEST for one in parts)
    items = folded([{"type": "update", "update": one} for one in parts])
    assert "".join(item.text for item in items) == whole


@QUICK
@given(st.lists(TEXTS, min_size=1, max_size=8), st.booleans())
def test_a_result_is_the_last_that_was_sent(texts: list[str], grows: bool):
    """Agents send all of it again with each update, or something else."""
    sent = ["".join(texts[: n + 1]) for n in range(len(texts))] if grows else texts
    parts, told = UpdateParts(), list[dict[str, Any]]()
    for text in sent:
        shown = [{"type": "content", "content": {"type": "text", "text": text}}]
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": shown}
        for part in parts.of(update):
            both = joined(told[-1], part) if told else None
            told[-1:] = [both] if both else [*told[-1:], part]
    told += parts.of(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    )
    assert all(len(json.dumps(one, ensure_ascii=False).encode()) < LARGEST for one in told)
    (item,) = folded([{"type": "update", "update": one} for one in told])
    last = next((text for text in reversed(sent) if text), "")
    assert item.tool is not None
    assert item.tool.result == last.encode("utf-8", "replace").decode()[:LONGEST_RESULT]
    assert item.tool.status == "done"


@QUICK
@given(st.lists(OBJECTS, max_size=12))
def test_no_update_breaks_anything(payloads: list[dict[str, Any]]):
    parts = UpdateParts()
    for payload in payloads:
        translate({"sessionId": "s", **payload})
        for part in parts.of(payload) + parts.of(as_object(payload.get("update"))):
            json.dumps(part)
    for item in folded(payloads):
        item.to_wire()


STEPS = st.lists(
    st.sampled_from(["prompt", "within", "say", "think", "call", "done", "plan", "turn", "odd"]),
    max_size=40,
)


def payload_of(step: str, number: int) -> dict[str, Any]:
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "execute"}
    match step:
        case "prompt" | "within":
            return {"type": "prompt", "text": f"p{number}", "within": step == "within"}
        case "say" | "think":
            kind = "agent_message_chunk" if step == "say" else "agent_thought_chunk"
            return {"type": "update", "update": said(kind, f"t{number} ")}
        case "call" | "done":
            more = {"added": f"r{number}"} | ({"status": "completed"} if step == "done" else {})
            return {"type": "update", "update": call | more}
        case "plan":
            entries = [{"content": f"e{number}", "status": "pending"}]
            return {"type": "update", "update": {"sessionUpdate": "plan", "entries": entries}}
        case "turn":
            usage = [{"inputTokens": 1, "outputTokens": 2}]
            return {"type": "turn", "stopReason": "cancelled", "usage": usage}
        case _:
            return {"type": "update", "update": {"sessionUpdate": "odd", "n": number}}


@QUICK
@given(STEPS, st.integers(1, 7), st.integers(0, 2**41 - 1))
def test_a_conversation_in_the_log_is_the_same_however_it_is_read(
    steps: list[str], most: int, looks: int
):
    asyncio.run(check_pages(steps, most, [bool(looks >> n & 1) for n in range(41)]))


async def check_pages(steps: list[str], most: int, looks: list[bool]) -> None:
    board = Board()
    session = {"type": "session", "sessionId": "s", "agent": {"name": "x"}}
    payloads = [session, *(payload_of(step, n) for n, step in enumerate(steps))]
    cut = 1 + looks.index(True) % len(payloads) if any(looks) else len(payloads)
    plate = None
    reading = LoggedConversations(board.log, FakeClock())
    followed: list[ConversationItem] = []
    after = ""
    for number, payload in enumerate(payloads, start=1):
        report = translate({"sessionId": "s", "cwd": "/p", **payload})
        assert report is not None
        plate = await board.hear(report)
        if number == cut:
            page = await reading.page(plate.plate_id, Window(most=200))
            followed, after = [*page.items], page.after
        elif number > cut and looks[number - 1]:
            page = await reading.page(plate.plate_id, Window(after=after, most=most))
            followed, after = [*followed, *page.items], page.after
    assert plate is not None
    while True:
        page = await reading.page(plate.plate_id, Window(after=after, most=most))
        followed, after = [*followed, *page.items], page.after
        if not page.items:
            break
    whole = [*(await reading.page(plate.plate_id, Window(most=200))).items]
    assert replaced(followed) == whole
    pages, before = list[list[ConversationItem]](), None
    while True:
        page = await reading.page(plate.plate_id, Window(before=before, most=most))
        pages.insert(0, [*page.items])
        before = page.before
        if before is None:
            break
    assert [item for page in pages for item in page] == whole
    for item in whole:
        found = await reading.item(plate.plate_id, item.id, after)
        assert found.to_wire() == item.to_wire()


def replaced(items: list[ConversationItem]) -> list[ConversationItem]:
    """The items, each as it was last."""
    last = {item.id: item for item in items}
    assert [one.id for one in assembled(items)] == list(last)
    return list(last.values())
