"""Transcripts of any size and in any condition, read a page at a time."""

import json
import os
import re
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from callboard.errors import TranscriptUnreadable, ValidationError
from callboard.events.json_values import Object, as_text
from callboard.vendors.conversation import (
    LONGEST_ITEM_TEXT,
    MOST_ITEMS,
    ConversationItem,
    ConversationPage,
    ConversationPlace,
    TokenUsage,
    Window,
)
from callboard.vendors.conversations import conversation_reader
from callboard.vendors.line_conversation import LineConversation
from callboard.vendors.transcript_lines import LONGEST_LINE

MIB = 1024 * 1024


def parse(record: Object, id: str) -> Sequence[ConversationItem]:
    text = as_text(record.get("text"))
    own_id = as_text(record.get("id")) or id
    return [ConversationItem(own_id, None, "prompt", "person", text)] if text else []


def reader(path: Path) -> LineConversation:
    return LineConversation(str(path), parse, re.compile(rb'\{"noise"'))


def line(number: int, text: str = "") -> str:
    return json.dumps({"id": f"i{number}", "text": text or f"text {number}"}) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "s.jsonl"
    file.write_text("".join(line(number) for number in range(10)), encoding="utf-8")
    return file


def ids(page: ConversationPage) -> list[str]:
    return [item.id for item in page.items]


def test_the_end_comes_first(path: Path):
    page = reader(path).page(Window(most=3))
    assert ids(page) == ["i7", "i8", "i9"]
    assert not page.restarted


def test_pages_before_and_after(path: Path):
    end = reader(path).page(Window(most=3))
    earlier = reader(path).page(Window(before=end.before, most=4))
    assert ids(earlier) == ["i3", "i4", "i5", "i6"]
    first = reader(path).page(Window(before=earlier.before, most=100))
    assert (ids(first), first.before) == (["i0", "i1", "i2"], None)
    assert ids(reader(path).page(Window(after=earlier.after))) == ["i7", "i8", "i9"]
    assert ids(reader(path).page(Window(after=end.after))) == []


def test_what_is_appended_follows(path: Path):
    end = reader(path).page(Window())
    with path.open("a", encoding="utf-8") as file:
        file.write(line(10) + line(11)[:-5])
    page = reader(path).page(Window(after=end.after))
    assert ids(page) == ["i10"]
    with path.open("a", encoding="utf-8") as file:
        file.write(line(11)[-5:])
    assert ids(reader(path).page(Window(after=page.after))) == ["i11"]


def test_a_line_that_is_being_written_is_not_read(path: Path):
    with path.open("a", encoding="utf-8") as file:
        file.write('{"text": "half')
    assert ids(reader(path).page(Window(most=1))) == ["i9"]


@pytest.mark.parametrize("content", ["", "no JSON\n\n[]\n1\nnull\n", "\n", "\x00\x00\n", "{"])
def test_files_with_nothing_to_show(tmp_path: Path, content: str):
    file = tmp_path / "s.jsonl"
    file.write_text(content, encoding="utf-8")
    page = reader(file).page(Window())
    assert (page.items, page.before) == ([], None)


def test_control_characters_are_kept(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text(line(1, "a\x00b\x1b[31m\u202e"), encoding="utf-8")
    assert reader(file).page(Window()).items[0].text == "a\x00b\x1b[31m\u202e"


def test_half_a_pair_of_surrogates_is_replaced(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text('{"id": "i1", "text": "a\\ud83d"}\n', encoding="utf-8")
    assert reader(file).page(Window()).items[0].text == "a?"


def test_rewriting_is_noticed(path: Path):
    page = reader(path).page(Window(most=3))
    path.write_text("".join(line(number) for number in range(20, 40)), encoding="utf-8")
    for window in (Window(after=page.after, most=2), Window(before=page.before, most=2)):
        again = reader(path).page(window)
        assert (ids(again), again.restarted) == (["i38", "i39"], True)


def test_another_file_in_its_place_is_noticed(path: Path):
    page = reader(path).page(Window())
    same = path.with_name("other")
    same.write_bytes(path.read_bytes() + line(10).encode())
    same.replace(path)
    assert reader(path).page(Window(after=page.after)).restarted


def test_a_file_that_became_shorter_is_noticed(path: Path):
    page = reader(path).page(Window())
    os.truncate(path, 50)
    again = reader(path).page(Window(after=page.after))
    assert (ids(again), again.restarted) == (["i0"], True)


def test_a_file_that_is_gone(path: Path):
    path.unlink()
    with pytest.raises(TranscriptUnreadable, match="No such file"):
        reader(path).page(Window())


@pytest.mark.parametrize("cursor", ["", "x", "1.2", "1.2.3.4", "zz.1.a", "1" * 500])
def test_a_cursor_that_is_none(path: Path, cursor: str):
    with pytest.raises(ValidationError, match="cursor"):
        reader(path).page(Window(before=cursor))


@pytest.mark.parametrize("cursor", ["-1.-1.x", "0.1.x", "ffffffffffff.1.x", "5.5.5"])
def test_a_cursor_from_elsewhere(path: Path, cursor: str):
    assert reader(path).page(Window(before=cursor)).restarted


def test_links_folders_and_pipes_are_refused(path: Path, tmp_path: Path):
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    for file in (link, pipe, tmp_path):
        with pytest.raises(TranscriptUnreadable):
            reader(file).page(Window())


def test_files_of_others_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(TranscriptUnreadable, match="another user"):
        reader(path).page(Window())


def test_long_texts_are_cut_and_can_be_read_whole(path: Path):
    text = "x" * (LONGEST_ITEM_TEXT + 1)
    with path.open("a", encoding="utf-8") as file:
        file.write(line(10, text))
    page = reader(path).page(Window(most=1))
    [item] = page.items
    assert (item.cut, len(item.text)) == (True, LONGEST_ITEM_TEXT)
    full = reader(path).full(item.id, page.after)
    assert full is not None
    assert (full.cut, full.text) == (False, text)


def test_an_item_that_is_not_there(path: Path):
    page = reader(path).page(Window())
    assert reader(path).full("nosuch", page.after) is None
    assert reader(path).full("i3", page.after) is not None


@pytest.mark.parametrize("own_id", [True, False])
def test_a_long_line_costs_little_and_breaks_nothing(tmp_path: Path, own_id: bool):
    file = tmp_path / "s.jsonl"
    long = {"text": "é\\" * (5 * MIB), **({"id": "after it"} if own_id else {})}
    with file.open("w", encoding="utf-8") as written:
        written.write(line(1))
        json.dump(long, written, ensure_ascii=False)
        written.write("\n" + line(2))
    assert file.stat().st_size > LONGEST_LINE
    tracemalloc.start()
    page = reader(file).page(Window())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * MIB
    first, middle, last = page.items
    assert (first.id, last.id) == ("i1", "i2")
    assert (middle.cut, len(middle.text)) == (True, LONGEST_ITEM_TEXT)
    full = reader(file).full(middle.id, page.after)
    assert full is not None
    assert (full.id, full.text, full.cut) == (middle.id, "é\\" * (5 * MIB), False)


def test_a_huge_transcript_is_read_from_its_end(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    with file.open("wb") as written:
        written.write(line(0).encode())
        written.truncate(500 * MIB)  # The hole is one long line of nothing.
        written.seek(0, os.SEEK_END)
        written.write(b"\n" + "".join(line(number) for number in range(1, 10_001)).encode())
    tracemalloc.start()
    page = reader(file).page(Window(most=100))
    before = reader(file).page(Window(before=page.before, most=100))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (ids(page)[-1], ids(before)[-1]) == ("i10000", "i9900")
    assert most < 4 * MIB


def peak(work: Callable[[], object]) -> int:
    """The most bytes that work takes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("short", ["\n", "{}\n", "[" * 20 + "\n"])
def test_millions_of_short_lines_are_read_in_parts(tmp_path: Path, short: str):
    file = tmp_path / "s.jsonl"
    file.write_text(line(1) + short * MIB, encoding="utf-8")
    end = reader(file).page(Window())
    assert (end.items, end.restarted) == ([], False)
    assert end.before is not None
    matches = reader(file).search("text", Window())
    assert matches.found == []
    assert matches.before is not None
    # Each part is small, and leads to an earlier one.
    earlier = reader(file).page(Window(before=end.before))
    assert earlier.before not in (None, end.before)
    assert peak(lambda: reader(file).page(Window())) < 8 * MIB


def test_the_model_of_a_call_is_not_looked_for_forever(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    seen = list[int]()

    def call(record: Object, id: str) -> Sequence[ConversationItem]:
        seen.append(1)
        return [ConversationItem(id, None, "usage", "model", "", usage=TokenUsage(None, call="c"))]

    file.write_text("{}\n" * MIB, encoding="utf-8")
    noise, model = re.compile(rb'\{"noise"'), re.compile(rb"\{")
    page = LineConversation(str(file), call, noise, model).page(Window(most=1))
    assert page.items[0].usage is not None
    assert page.items[0].usage.model is None
    assert len(seen) < 100_000


@pytest.mark.parametrize("value", ["[]", '{"a":1}', "1", "null"])
def test_a_line_of_many_values_costs_little(tmp_path: Path, value: str):
    file = tmp_path / "s.jsonl"
    count = LONGEST_LINE // (len(value) + 1) - 100
    many = f'{{"id": "many", "text": "before", "values": [{f"{value}," * count}{value}]}}\n'
    assert len(many) < LONGEST_LINE
    file.write_text(line(1) + many * 2 + line(2), encoding="utf-8")
    page = reader(file).page(Window())
    assert [(item.id, item.cut) for item in page.items] == [
        ("i1", False),
        ("many", True),
        ("i2", False),
    ]
    assert peak(lambda: reader(file).page(Window())) < 16 * MIB
    assert peak(lambda: reader(file).search("before", Window())) < 16 * MIB
    assert peak(lambda: reader(file).full("many", page.after)) < 64 * MIB


def test_inputs_of_many_values_fill_a_page(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    tree = [[[[] for _ in range(25)] for _ in range(25)] for _ in range(25)]
    call = {"type": "tool_use", "name": "Bash", "input": tree}
    records = [
        {"type": "assistant", "uuid": f"m{n}", "message": {"content": [{**call, "id": f"c{n}"}]}}
        for n in range(100)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    place = ConversationPlace("s", str(file), "/home/me/project")
    found = list[ConversationPage]()
    assert (
        peak(lambda: found.append(conversation_reader("claude", place).page(Window()))) < 16 * MIB
    )
    assert 0 < len(found[0].items) < 20
    assert found[0].before is not None


def test_the_first_page_reads_only_the_end(path: Path, monkeypatch: pytest.MonkeyPatch):
    read = list[int]()

    class Counting(LineConversation):
        def __init__(self) -> None:
            super().__init__(str(path), self._count, re.compile(rb"\{\{"))

        @staticmethod
        def _count(record: Object, id: str) -> Sequence[ConversationItem]:
            read.append(1)
            return parse(record, id)

    path.write_text("".join(line(number) for number in range(10_000)), encoding="utf-8")
    Counting().page(Window(most=100))
    assert len(read) == 100


def test_a_page_has_at_most_so_many_items(path: Path):
    path.write_text("".join(line(number) for number in range(1000)), encoding="utf-8")
    assert len(reader(path).page(Window(most=10_000)).items) == MOST_ITEMS
    assert len(reader(path).page(Window(most=0)).items) == 1


def test_a_page_of_large_items_is_shorter(path: Path):
    path.write_text("".join(line(one, "x" * 20_000) for one in range(100)), encoding="utf-8")
    page = reader(path).page(Window(most=100))
    assert 20 < len(page.items) < 40
    assert page.before is not None


def test_search_finds_the_newest_first_and_continues(path: Path):
    found = reader(path).search("TEXT", Window(most=4))
    assert [one.id for one in found.found] == ["i9", "i8", "i7", "i6"]
    more = reader(path).search("text", Window(before=found.before, most=100))
    assert [one.id for one in more.found] == ["i5", "i4", "i3", "i2", "i1", "i0"]
    assert more.before is None


def test_a_match_says_where_it_is(path: Path):
    [found] = reader(path).search("text 4", Window()).found
    page = reader(path).page(Window(before=found.at_cursor, most=2))
    assert ids(page) == ["i3", "i4"]
    assert found.excerpt == "text 4"


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ('say "hi"', '"HI"'),
        ("a\nb", "a\nb"),
        ("Straße", "straße"),
        ("ÄÖÜ", "äöü"),
        ("\u212a", "k"),
        ("back\\slash", "k\\s"),
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_search_knows_how_json_writes_text(path: Path, text: str, sought: str, is_ascii: bool):
    record = json.dumps({"id": "it", "text": text}, ensure_ascii=is_ascii)
    path.write_text(record + "\n", encoding="utf-8")
    assert [one.id for one in reader(path).search(sought, Window()).found] == ["it"]


def test_a_search_for_nothing(path: Path):
    for text in ("", " ", "x" * 1001):
        with pytest.raises(ValidationError, match="text"):
            reader(path).search(text, Window())


def test_what_is_watched(path: Path):
    assert reader(path).watched() == [str(path)]
