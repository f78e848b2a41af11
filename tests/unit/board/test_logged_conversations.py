"""Conversations in the log: how they are followed, searched and counted."""

import asyncio
import weakref
from typing import Any, cast

import pytest
from tests.unit.board.boards import Board

from callboard.board.logged_conversations import LoggedConversations
from callboard.board.usage_totals import MOST_TOTALS
from callboard.clock import SystemClock
from callboard.errors import NotFound, ValidationError
from callboard.events.envelope import Event, NewEvent
from callboard.ids import short_id
from callboard.log.protocol import EventLog
from callboard.vendors.acp.conversation import ConversationFold
from callboard.vendors.conversation import ConversationItem, Window

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


@pytest.mark.parametrize("cursor", ["x", "-1", "1" * 16])
async def test_a_cursor_of_something_else_is_not_valid(cursor: str):
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    id = await talked(board, {"type": "prompt", "text": "Go."})
    with pytest.raises(ValidationError, match="Read the conversation again from its end"):
        await reading.page(id, Window(after=cursor))


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


async def test_more_models_than_are_recorded_count_together():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    turns = [
        {
            "type": "turn",
            "stopReason": "end_turn",
            "usage": [{"model": f"m{turn}.{at}", "inputTokens": 1} for at in range(20)],
        }
        for turn in range(60)
    ]
    id = await talked(board, *turns)
    while not (counted := await reading.usage(id)).whole:
        pass
    assert len(counted.totals) == MOST_TOTALS
    assert sum(one.input_tokens for one in counted.totals) == 1200


class Counting:
    """A log, and how many events were read from it."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log, name)

    async def read(self, *args: Any, **options: Any) -> list[Event]:
        found = await self.log.read(*args, **options)
        self.count += len(found)
        return found


async def written(board: Board, *payloads: dict[str, Any]) -> str:
    """A stream that has only these: faster than reporting each."""
    id = short_id(16)
    events = [NewEvent(f"{id}{n}", "hook_heard", {"raw": one}, n) for n, one in enumerate(payloads)]
    await board.log.append(id, events)
    return id


def result_of(number: int, text: str) -> dict[str, Any]:
    call = {**CALL, "toolCallId": f"c{number}", "status": "completed", "text": text}
    return {"type": "update", "update": call}


async def read_forwards(reading: LoggedConversations, id: str) -> list[ConversationItem]:
    found, after = list[ConversationItem](), "0"
    while True:
        page = await reading.page(id, Window(after=after, most=200))
        if page.after == after:
            return found
        found += page.items
        after = page.after


async def read_backwards(reading: LoggedConversations, id: str) -> list[ConversationItem]:
    page = await reading.page(id, Window(most=200))
    found = list(page.items)
    while page.before is not None:
        page = await reading.page(id, Window(before=page.before, most=200))
        found[:0] = page.items
    return found


async def test_nothing_of_a_long_conversation_is_left_out():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    turns = [one for n in range(6000) for one in ({"type": "prompt", "text": f"{n}?"}, said("Yes"))]
    id = await written(board, *turns)
    found = await read_forwards(reading, id)
    assert [one.text for one in found[::2]] == [f"{n}?" for n in range(6000)]
    assert len(found) == 12_000


async def test_a_turn_of_any_size_is_read_in_parts():
    board = Board()
    log = Counting(board.log)
    reading = LoggedConversations(cast("EventLog", log), SystemClock())
    calls = [result_of(n, f"{n}." + "x" * 20_000) for n in range(1000)]
    id = await written(board, {"type": "prompt", "text": "Go."}, *calls)
    await reading.page(id, Window())
    assert log.count < 600
    for items in (await read_backwards(reading, id), await read_forwards(reading, id)):
        told = [one.tool.result.partition(".")[0] for one in items if one.tool and one.tool.result]
        assert told == [str(n) for n in range(1000)]


async def test_a_message_in_very_many_pieces_is_one():
    board = Board()
    reading = LoggedConversations(board.log, SystemClock())
    id = await written(
        board, {"type": "prompt", "text": "Go."}, *[said(f"{n} ") for n in range(900)]
    )
    told = "".join(f"{n} " for n in range(900))
    assert [one.text for one in await read_backwards(reading, id)] == ["Go.", told]
    last = (await read_forwards(reading, id))[-1]
    assert last.text == told
    assert (await reading.item(id, last.id, "901")).text == told


async def test_an_item_that_is_nowhere_is_not_looked_for_everywhere():
    board = Board()
    log = Counting(board.log)
    reading = LoggedConversations(cast("EventLog", log), SystemClock())
    turns = [{"type": "prompt", "text": f"{n}?"} for n in range(3000)]
    id = await written(board, *turns)
    for unknown in ("nothing", "@99999", "x@0", "c@7.x"):
        with pytest.raises(NotFound):
            await reading.item(id, unknown, "3000")
    assert log.count < 1000


def test_what_may_still_grow_is_not_forgotten():
    fold = ConversationFold()
    fold.add(1, 0, {"type": "prompt", "text": "Go."})
    fold.add(2, 0, {"type": "update", "update": CALL})
    fold.add(3, 0, result_of(2, "done"))
    fold.add(4, 0, said("One"))
    fold.forget(4)
    over = {**CALL, "sessionUpdate": "tool_call_update", "status": "completed", "text": "ok"}
    fold.add(5, 0, said(" two"))
    fold.add(6, 0, {"type": "update", "update": over})
    call, reply = fold.items.values()
    assert call.item.tool is not None
    assert (call.start, call.item.tool.result, reply.item.text) == (2, "ok", "One two")
    assert fold.size < 100


def test_a_fold_is_freed_at_once():
    fold = ConversationFold()
    fold.add(1, 0, said("One"))
    gone = weakref.ref(fold)
    del fold
    assert gone() is None
