"""Conversations in the log: how they are followed, searched and counted."""

import asyncio
from typing import Any

from tests.unit.board.boards import Board

from callboard.board.logged_conversations import LoggedConversations
from callboard.clock import SystemClock
from callboard.vendors.conversation import Window

CALL = {"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "make"}


def said(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {
        "type": "update",
        "update": {"sessionUpdate": "agent_message_chunk", "content": content},
    }


async def talked(board: Board, *payloads: dict[str, Any]) -> str:
    """The plate on which these were reported."""
    plate = None
    for payload in payloads:
        plate = await board.payload("acp", {"sessionId": "s", "cwd": "/p", **payload})
    assert plate is not None
    return plate.plate_id


async def test_readers_who_follow_see_each_word_once():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    id = await talked(board, {"type": "prompt", "text": "Go."})
    start = (await reading.page(id, Window())).after
    readers = [asyncio.create_task(reading.page(id, Window(after=start), 10.0)) for _ in range(3)]
    await asyncio.sleep(0.01)
    await talked(board, said("One "), said("two."))
    pages = await asyncio.gather(*readers)
    assert [item.text for page in pages for item in page.items] == ["One two."] * 3
    more = asyncio.create_task(reading.page(id, Window(after=pages[0].after), 10.0))
    await talked(board, said(" Three."))
    assert [item.text for item in (await more).items] == ["One two. Three."]


async def test_a_call_that_is_open_is_shown_again_when_it_is_over():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    id = await talked(board, {"type": "prompt", "text": "Go."}, {"type": "update", "update": CALL})
    page = await reading.page(id, Window())
    over = {**CALL, "sessionUpdate": "tool_call_update", "status": "completed", "text": "ok"}
    await talked(board, said("Meanwhile."), {"type": "update", "update": over})
    news = await reading.page(id, Window(after=page.after))
    call, reply = news.items
    assert call.tool is not None
    assert (call.id, call.tool.status, call.tool.result) == (page.items[1].id, "done", "ok")
    assert reply.text == "Meanwhile."


async def test_a_conversation_is_searched_from_its_end():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    turns = [{"type": "prompt", "text": f"Look for needle {n}"} for n in range(5)]
    id = await talked(board, *turns)
    first = await reading.search(id, "NEEDLE", Window(most=2))
    assert [one.excerpt[-1] for one in first.found] == ["4", "3"]
    rest = await reading.search(id, "needle", Window(before=first.before))
    assert ([one.excerpt[-1] for one in rest.found], rest.before) == (["2", "1", "0"], None)
    page = await reading.page(id, Window(before=first.found[1].at_cursor))
    assert page.items[-1].text == "Look for needle 3"


async def test_tokens_are_counted_once_by_model():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    used = {"inputTokens": 10, "outputTokens": 5, "cost": 0.25}
    id = await talked(
        board,
        {"type": "session", "model": "m"},
        {"type": "turn", "stopReason": "end_turn", "usage": [used, {**used, "model": "other"}]},
        {"type": "turn", "stopReason": "end_turn", "usage": [used]},
    )
    while not (counted := await reading.usage(id)).whole:
        pass
    totals = [(one.model, one.input_tokens, one.calls, one.cost) for one in counted.totals]
    assert totals == [("m", 20, 2, 0.5), ("other", 10, 1, 0.25)]
    assert (await reading.usage(id)).totals == counted.totals
