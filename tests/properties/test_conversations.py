"""However a transcript is read, it is the same conversation, and no line of it raises an error."""

import json
import random
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.vendors.recordings import PAYLOADS

from callboard.board.conversation_size import LARGEST, fitted_item, fitted_page, size_of
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationPage,
    ConversationPlace,
    ConversationReader,
    Window,
)
from callboard.vendors.conversation_items import assembled
from callboard.vendors.conversations import conversation_reader
from callboard.vendors.opencode.message_items import items_of
from callboard.vendors.partial_json import load_start

AGENTS = ("claude", "codex", "gemini")
LINES = {
    agent: (PAYLOADS / agent / "conversation.jsonl").read_bytes().splitlines(keepends=True)
    for agent in AGENTS
}
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

WORDS = st.sampled_from(
    [
        *("type", "message", "content", "payload", "text", "id", "uuid", "name", "input"),
        *("role", "usage", "tokens", "item", "changes", "toolCalls", "result", "output", "$set"),
        *("messages", "attachment", "origin", "state", "metadata", "summary", "tool_use_id"),
        *("user", "assistant", "gemini", "response_item", "event_msg", "tool_use", "tool_result"),
        *("function_call", "function_call_output", "item_completed", "FileChange", "reasoning"),
        *("token_count", "info", "thoughts", "structuredPatch", "toolUseResult", "lines"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(), inner, max_size=6)
    ),
    max_leaves=20,
)
RECORDS = st.dictionaries(WORDS, JSON, max_size=8)
MOSTS = st.integers(1, 30)


def reader(agent: str, path: Path) -> ConversationReader:
    return conversation_reader(agent, ConversationPlace("s", str(path), "/home/me/project"))


def backwards(reader: ConversationReader, most: int) -> list[list[ConversationItem]]:
    """All pages, read from the end, in order."""
    pages, before = list[list[ConversationItem]](), None
    while True:
        page = reader.page(Window(before=before, most=most))
        pages.insert(0, page.items)
        if page.before is None:
            return pages
        assert page.before != before
        before = page.before


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(data=st.data())
def test_two_reads_of_a_growing_transcript_are_one(agent: str, tmp_path: Path, data: Any):
    path, whole = tmp_path / "s.jsonl", b"".join(LINES[agent])
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    first = reader(agent, path).page(Window(most=200))
    with path.open("ab") as file:
        file.write(whole[cut:])
    second = reader(agent, path).page(Window(after=first.after, most=200))
    assert not second.restarted
    expected = reader(agent, path).page(Window(most=200)).items
    assert assembled([*first.items, *second.items]) == expected


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(data=st.data())
def test_following_a_transcript_is_reading_it(agent: str, tmp_path: Path, data: Any):
    """However its writes are cut, and however little a page has."""
    path, whole = tmp_path / "s.jsonl", b"".join(LINES[agent])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    path.write_bytes(whole[: cuts[0]] if cuts else b"")
    first = reader(agent, path).page(Window(most=200))
    items, after = [*first.items], first.after
    for start, end in pairwise([cuts[0] if cuts else 0, *cuts[1:], len(whole)]):
        with path.open("ab") as file:
            file.write(whole[start:end])
        for _ in range(data.draw(st.integers(0, 3))):
            page = reader(agent, path).page(Window(after=after, most=data.draw(MOSTS)))
            assert not page.restarted
            items, after = [*items, *page.items], page.after
    while (page := reader(agent, path).page(Window(after=after, most=200))).after != after:
        items, after = [*items, *page.items], page.after
    assert assembled(items) == reader(agent, path).page(Window(most=200)).items


@QUICK
@given(data=st.data())
def test_following_a_database_is_reading_it(tmp_path: Path, data: Any):
    """opencode writes messages and their parts as they grow."""
    path = tmp_path / "opencode.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript((PAYLOADS / "opencode" / "conversation.sql").read_text("utf-8"))
        session = "ses_e0e614891ffei3v12C04HLs78O"
        database.execute("DELETE FROM part")
        database.execute("DELETE FROM message")
        database.commit()
        follows = conversation_reader("opencode", ConversationPlace(session, str(path), "/p"))
        first = follows.page(Window(most=200))
        items, after = {one.id: one for one in first.items}, first.after
        for clock in range(1, data.draw(st.integers(2, 15))):
            number = data.draw(st.integers(0, 4))
            told = [f"m{number}", session, number + 1, clock, '{"role": "assistant"}']
            database.execute("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", told)
            part = [
                f"p{number}-{data.draw(st.integers(0, 2))}",
                f"m{number}",
                session,
                clock,
                clock,
            ]
            text = json.dumps({"type": "text", "text": data.draw(st.text(max_size=5)) + "x"})
            database.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", [*part, text])
            database.commit()
            if data.draw(st.booleans()):
                page = follows.page(Window(after=after, most=data.draw(MOSTS)))
                items, after = merged(items, page)
        while (page := follows.page(Window(after=after, most=200))).after != after:
            items, after = merged(items, page)
        expected = follows.page(Window(most=200)).items
        assert {one.id: one.text for one in expected} == {id: i.text for id, i in items.items()}


def merged(
    known: dict[str, ConversationItem], page: ConversationPage
) -> tuple[dict[str, ConversationItem], str]:
    """What is known after a page: what was rewritten takes the place of all of it."""
    told = {one.id: one for one in page.items}
    return (told if page.restarted else known | told), page.after


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(most=st.integers(1, 30))
def test_pages_from_the_end_have_everything(agent: str, tmp_path: Path, most: int):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(LINES[agent]))
    expected = reader(agent, path).page(Window(most=200)).items
    pages = backwards(reader(agent, path), most)
    assert assembled(item for page in pages for item in page) == expected


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(most=st.integers(1, 30))
def test_pages_from_the_start_have_everything(agent: str, tmp_path: Path, most: int):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(LINES[agent]))
    first = reader(agent, path)
    pages, before = backwards(first, most), first.page(Window(most=200))
    after = reader(agent, path).page(Window(before=before.after, most=1)).after
    assert after == before.after
    assert sum(map(len, pages)) >= len(before.items)


@QUICK
@given(
    numbers=st.lists(st.integers(0, 3000), max_size=30),
    most=st.integers(1, 10),
)
def test_every_line_is_on_one_page(tmp_path: Path, numbers: list[int], most: int):
    path = tmp_path / "s.jsonl"
    texts = [f"{number}:" + "é" * size for number, size in enumerate(numbers)]
    records = [{"type": "user", "uuid": text, "message": {"content": text}} for text in texts]
    lines = [
        json.dumps(one, ensure_ascii=random.Random(n).random() < 0.5)
        for n, one in enumerate(records)
    ]
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    pages = backwards(reader("claude", path), most)
    assert [item.text for page in pages for item in page] == texts


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(records=st.lists(RECORDS, max_size=8))
def test_any_records_can_be_read(agent: str, tmp_path: Path, records: list[Any]):
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    for item in reader(agent, path).page(Window()).items:
        json.dumps(item.to_wire()).encode()
    reader(agent, path).search("user", Window())


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(data=st.data())
def test_records_with_changed_values_can_be_read(agent: str, tmp_path: Path, data: Any):
    record = json.loads(data.draw(st.sampled_from(LINES[agent])))
    inside = record
    while isinstance(inside, dict) and inside:
        key = data.draw(st.sampled_from(sorted(inside)))
        if not isinstance(inside[key], dict) or data.draw(st.booleans()):
            inside[key] = data.draw(JSON)
            break
        inside = inside[key]
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    for item in reader(agent, path).page(Window()).items:
        json.dumps(item.to_wire()).encode()


@QUICK
@given(garbage=st.binary(max_size=2000))
def test_garbage_can_be_read(tmp_path: Path, garbage: bytes):
    path = tmp_path / "s.jsonl"
    path.write_bytes(garbage)
    for agent in AGENTS:
        reader(agent, path).page(Window())


@pytest.mark.parametrize("agent", AGENTS)
@QUICK
@given(records=st.lists(RECORDS, max_size=8), repeats=st.integers(1, 400))
def test_what_is_read_is_bounded(agent: str, tmp_path: Path, records: list[Any], repeats: int):
    path = tmp_path / "s.jsonl"
    text = "".join(json.dumps(one) + "\n" for one in records) * repeats
    path.write_text(text, encoding="utf-8")
    page = fitted_page(lambda most: reader(agent, path).page(Window(most=most)), 200)
    assert size_of(page) <= LARGEST
    for item in page.items[:3]:
        full = reader(agent, path).full(item.id, page.after)
        assert full is None or size_of(fitted_item(full)) <= LARGEST
    assert len(reader(agent, path).search("user", Window()).found) <= 2 * MOST_ITEMS


@QUICK
@given(message=RECORDS, parts=st.lists(RECORDS, max_size=5))
def test_any_message_of_opencode_can_be_read(message: Any, parts: list[Any]):
    for item in items_of("m", 0, message, [(str(n), part) for n, part in enumerate(parts)]):
        assert item.id


@QUICK
@given(record=RECORDS, data=st.data())
def test_the_start_of_a_record_is_part_of_it(record: dict[str, Any], data: Any):
    whole = json.dumps(record, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "replace")
    start = load_start(whole[: data.draw(st.integers(0, len(whole)))])
    assert list(start) == list(record)[: len(start)]
