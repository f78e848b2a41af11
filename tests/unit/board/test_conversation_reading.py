"""Conversations are read in threads, within bounds, and waited for."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.board import conversation_reading
from callboard.board.conversation_reading import ConversationReading, Transcript, asked
from callboard.board.conversation_size import LARGEST, fitted_item, fitted_page, size_of
from callboard.errors import NotFound, TranscriptUnreadable
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    ConversationPlace,
    ConversationReader,
    FileEdit,
    FoundItem,
    ItemImage,
    ToolRun,
    Window,
)


def said(id: str, text: str = "", **more: Any) -> ConversationItem:
    return ConversationItem(id, 1_700_000_000_000, "reply", "model", text, **more)


@dataclass
class Lines:
    """A reader of a file that has an item on each line, and none on an empty one."""

    file: Path
    reads: int = 0
    made: dict[str, ConversationItem] = field(default_factory=dict[str, ConversationItem])

    def _lines(self) -> list[str]:
        return self.file.read_text().splitlines()

    def _item(self, line: str) -> ConversationItem:
        return self.made.get(line) or said(line, line)

    def page(self, window: Window) -> ConversationPage:
        self.reads += 1
        lines = self._lines()
        if window.after is not None:
            start = int(window.after)
            part = lines[start : start + window.most]
            end = start + len(part)
        else:
            end = len(lines) if window.before is None else int(window.before)
            start = max(0, end - window.most)
            part = lines[start:end]
        items = [self._item(line) for line in part if line]
        return ConversationPage(items, str(start) if start else None, str(end))

    def search(self, text: str, window: Window) -> ConversationMatches:
        found = [FoundItem(one, "reply", None, one, "1") for one in self._lines() if text in one]
        return ConversationMatches(found, None)

    def full(self, item_id: str, cursor: str) -> ConversationItem | None:
        return self._item(item_id) if item_id in self._lines() else None

    def watched(self) -> list[str]:
        return [str(self.file)]


PLACE = Transcript("claude", ConversationPlace("s1", None, "/project"))


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    file = tmp_path / "lines"
    file.write_text("one\ntwo\nthree\n")
    return Lines(file)


@pytest.fixture
def reading(lines: Lines) -> ConversationReading:
    def find(agent: str, place: ConversationPlace) -> ConversationReader:
        if agent != "claude":
            raise TranscriptUnreadable("Unknown.")
        return lines

    return ConversationReading(find)


def append(file: Path, text: str) -> None:
    with file.open("a") as to:
        to.write(text)


def ids(page: ConversationPage) -> list[str]:
    return [one.id for one in page.items]


class TestWaiting:
    async def test_what_is_there_comes_at_once(self, reading: ConversationReading):
        page = await reading.page(PLACE, Window(after="1"), wait=20)
        assert ids(page) == ["two", "three"]

    async def test_it_ends_when_something_is_written(
        self, reading: ConversationReading, lines: Lines
    ):
        waiting = asyncio.create_task(reading.page(PLACE, Window(after="3"), wait=20))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        append(lines.file, "four\n")
        assert ids(await waiting) == ["four"]

    async def test_lines_without_items_dont_end_it(
        self, reading: ConversationReading, lines: Lines
    ):
        append(lines.file, "\n\n")
        waiting = asyncio.create_task(reading.page(PLACE, Window(after="3", most=1), wait=20))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        append(lines.file, "\nfour\n")
        page = await waiting
        assert (ids(page), page.after) == (["four"], "7")

    async def test_the_end_has_something_to_show(self, reading: ConversationReading, lines: Lines):
        append(lines.file, "\n" * 5)
        page = await reading.page(PLACE, Window(most=2))
        assert (ids(page), page.before, page.after) == (["three"], "2", "8")
        earlier = await reading.page(PLACE, Window(before="8", most=2))
        assert (ids(earlier), earlier.after) == (["three"], "8")
        lines.file.write_text("\n" * 5)
        page = await reading.page(PLACE, Window(most=2))
        assert (page.items, page.before, page.after) == ([], None, "5")

    async def test_what_has_nothing_to_show_is_not_read_for_long(
        self, reading: ConversationReading, lines: Lines, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(conversation_reading, "_LOOKS_FOR", 0.0)
        append(lines.file, "\n" * 5)
        page = await reading.page(PLACE, Window(most=2))
        assert (page.items, page.before, lines.reads) == ([], "6", 1)

    async def test_it_is_empty_after_a_while(self, reading: ConversationReading):
        page = await reading.page(PLACE, Window(after="3"), wait=0.01)
        assert (page.items, page.after) == ([], "3")

    async def test_without_a_wait_it_is_read_once(self, reading: ConversationReading, lines: Lines):
        assert (await reading.page(PLACE, Window(after="3"))).items == []
        assert lines.reads == 1

    async def test_a_deleted_file_is_an_error(self, reading: ConversationReading, lines: Lines):
        waiting = asyncio.create_task(reading.page(PLACE, Window(after="3"), wait=20))
        await asyncio.sleep(0.05)
        lines.file.unlink()
        with pytest.raises(TranscriptUnreadable, match="No such file"):
            await waiting


class TestCommand:
    async def test_a_page(self, reading: ConversationReading):
        told = await reading.do(asked("page", PLACE, Window(most=2)))
        page = ConversationPage.from_wire(sent(told)["value"])
        assert (ids(page), page.before, page.after) == (["two", "three"], "1", "3")

    async def test_a_search(self, reading: ConversationReading):
        told = await reading.do(asked("search", PLACE, Window()) | {"text": "thr"})
        found = ConversationMatches.from_wire(sent(told)["value"])
        assert [one.id for one in found.found] == ["three"]

    async def test_an_item(self, reading: ConversationReading):
        command = asked("item", PLACE, Window()) | {"item": "two", "cursor": "3"}
        told = await reading.do(command)
        assert ConversationItem.from_wire(sent(told)["value"]).text == "two"

    async def test_errors_keep_their_code(self, reading: ConversationReading):
        command = asked("item", PLACE, Window()) | {"item": "ten", "cursor": "3"}
        assert sent(await reading.do(command))["error"]["code"] == "NOT_FOUND"
        other = replace(PLACE, agent="other")
        told = sent(await reading.do(asked("page", other, Window())))
        assert told["error"]["code"] == "TRANSCRIPT_UNREADABLE"

    async def test_only_some_can_wait(self, reading: ConversationReading):
        command = asked("page", PLACE, Window(after="3")) | {"wait": 20}
        waiting = [asyncio.create_task(reading.do(command)) for _ in range(8)]
        await asyncio.sleep(0)
        told = await reading.do(command)
        assert ConversationPage.from_wire(sent(told)["value"]).items == []
        assert not any(one.done() for one in waiting)
        for one in waiting:
            one.cancel()

    @settings(max_examples=30)
    @given(
        st.dictionaries(
            st.sampled_from(["what", "agent", "session", "path", "before", "most", "wait"]),
            st.none() | st.integers() | st.text() | st.floats() | st.lists(st.none()),
        )
    )
    async def test_anything_gets_an_answer(self, data: dict[str, Any]):
        def find(agent: str, place: ConversationPlace) -> ConversationReader:
            raise TranscriptUnreadable("Nothing.")

        assert "error" in await ConversationReading(find).do(data)


AGENTS = ("claude", "codex", "gemini", "opencode")


class TestPlaces:
    """Hooks and servers say where a transcript is. They can name any file."""

    @pytest.fixture
    def homes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
        """Where each agent keeps its transcripts."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        found = {
            "claude": tmp_path / "claude" / "projects",
            "codex": tmp_path / "codex" / "sessions",
            "gemini": tmp_path / ".gemini" / "tmp",
            "opencode": tmp_path / "data" / "opencode",
        }
        for folder in found.values():
            folder.mkdir(parents=True)
        return found

    async def refused(self, agent: str, path: str, subagent: str | None = None) -> None:
        """Nothing finds out anything about this file, on this machine or for a server."""
        reading = ConversationReading()
        transcript = Transcript(agent, ConversationPlace("s1", path, "/project", subagent))
        told = sent(await reading.do(asked("page", transcript, Window())))
        assert told["error"]["code"] == "TRANSCRIPT_UNREADABLE"
        for read in (
            lambda: reading.page(transcript, Window()),
            lambda: reading.search(transcript, "root", Window()),
            lambda: reading.item(transcript, "m1", "1"),
        ):
            with pytest.raises(TranscriptUnreadable, match="not in the folder where"):
                await read()

    @pytest.mark.parametrize("agent", AGENTS)
    async def test_files_elsewhere(self, agent: str, homes: dict[str, Path], tmp_path: Path):
        secret = tmp_path / "secret.jsonl"
        secret.write_text('{"type": "user", "message": {"content": "secret"}}\n')
        (homes[agent] / "link.jsonl").symlink_to(secret)
        (homes[agent] / "folder").symlink_to(tmp_path)
        inside = homes[agent]
        for path in (
            "/etc/passwd",
            str(secret),
            f"{inside}/../../../secret.jsonl",
            f"{inside}/link.jsonl",
            f"{inside}/folder/secret.jsonl",
            "relative.jsonl",
            "a\0b",
        ):
            await self.refused(agent, path)

    async def test_a_link_from_the_folder_of_subagents(
        self, homes: dict[str, Path], tmp_path: Path
    ):
        (tmp_path / "agent-a.jsonl").touch()
        session = homes["claude"] / "s1"
        session.mkdir()
        (session / "subagents").symlink_to(tmp_path)
        await self.refused("claude", f"{session}.jsonl", "a")

    async def test_transcripts_on_another_disk(self, homes: dict[str, Path], tmp_path: Path):
        homes["claude"].rename(tmp_path / "disk")
        homes["claude"].symlink_to(tmp_path / "disk")
        file = homes["claude"] / "s1.jsonl"
        file.write_text('{"type": "user", "uuid": "m1", "message": {"content": "Here."}}\n')
        transcript = Transcript("claude", ConversationPlace("s1", str(file), "/project"))
        page = await ConversationReading().page(transcript, Window())
        assert [one.text for one in page.items] == ["Here."]


def sent(told: object) -> dict[str, Any]:
    return json.loads(json.dumps(told))


class TestSize:
    async def test_half_characters_are_replaced(self, reading: ConversationReading, lines: Lines):
        lines.made["three"] = said("three", "a\ud83d")
        page = await reading.page(PLACE, Window(most=1))
        assert page.items[0].text == "a?"

    def test_large_pages_get_fewer_items(self, lines: Lines):
        lines.file.write_text("".join(f"{n}\n" for n in range(100)))
        lines.made |= {str(n): said(str(n), "ü" * 20_000) for n in range(100)}
        page = fitted_page(lambda most: lines.page(Window(most=most)), 100)
        assert size_of(page) <= LARGEST
        assert ids(page)[-1] == "99"
        assert page.before == page.items[0].id  # The line before which it continues.
        assert lines.reads == 2

    def test_large_images_go_first(self, lines: Lines):
        large, small = ItemImage("image/png", "A" * 900_000), ItemImage("image/png", "A" * 1000)
        lines.made["three"] = said("three", images=[large, small])
        page = fitted_page(lambda most: lines.page(Window(most=most)), 3)
        assert ids(page) == ["one", "two", "three"]
        assert [one.data is None for one in page.items[2].images] == [True, False]

    @settings(max_examples=20)
    @given(
        text=st.integers(0, 3_000_000),
        result=st.integers(0, 3_000_000),
        values=st.integers(0, 200_000),
        edits=st.integers(0, 50),
    )
    def test_any_item_becomes_small_enough(self, text: int, result: int, values: int, edits: int):
        tool = ToolRun(
            "Write",
            {"content": "x" * result, "list": [1] * values},
            None,
            "r" * result,
            "done",
            [FileEdit("a", "+" * (result // 10))] * edits,
        )
        item = fitted_item(said("a", "t" * text, tool=tool), largest=100_000)
        assert size_of(item) <= 100_000

    async def test_an_item_that_is_gone(self, reading: ConversationReading):
        with pytest.raises(NotFound, match="Open the conversation again"):
            await reading.item(PLACE, "ten", "3")
