"""Subagents of older versions of Claude Code: nested, and counted once."""

import json
from pathlib import Path
from typing import Any

import pytest

from callboard.board.usage_counting import SessionTally
from callboard.vendors.conversation import ConversationItem, ConversationPlace, Window
from callboard.vendors.conversations import conversation_reader

USAGE = {"input_tokens": 10, "output_tokens": 5}


def said(uuid: str, parent: str | None, block: Any, *, nested: bool = False) -> dict[str, Any]:
    message = {"id": f"m-{uuid}", "model": "opus", "content": [block], "usage": USAGE}
    told = {"type": "assistant", "uuid": uuid, "parentUuid": parent, "isSidechain": nested}
    return {**told, "version": "1.0.80", "timestamp": "2025-11-17T10:00:00Z", "message": message}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, prompt: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Task", "input": {"prompt": prompt}}


def asked(uuid: str, prompt: str, *, nested: bool) -> dict[str, Any]:
    told = {"type": "user", "uuid": uuid, "parentUuid": None, "isSidechain": nested}
    return {**told, "version": "1.0.80", "message": {"role": "user", "content": prompt}}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    records = [
        asked("1", "go", nested=False),
        said("2", "1", call("t1", "Look at a.")),
        said("3", "2", call("t2", "Look at b.")),
        asked("a1", "Look at a.", nested=True),
        asked("b1", "Look at b.", nested=True),
        said("b2", "b1", text("b is fine."), nested=True),
        said("a2", "a1", text("a is fine."), nested=True),
        said("4", "3", text("All is fine.")),
    ]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return file


def items(file: Path, subagent: str | None = None) -> list[ConversationItem]:
    place = ConversationPlace("s", str(file), "/p", subagent)
    return conversation_reader("claude", place).page(Window()).items


def test_each_call_has_its_own_subagent_nested(transcript: Path):
    main = items(transcript)
    runs = [one.tool for one in main if one.tool is not None]
    assert [one.text for one in main if one.kind in ("prompt", "reply")] == ["go", "All is fine."]
    nested = [[one.text for one in items(transcript, run.subagent)] for run in runs]
    assert nested == [["Look at a.", "a is fine."], ["Look at b.", "b is fine."]]


def test_their_tokens_are_counted_once(transcript: Path):
    def reader(name: str | None) -> Any:
        return conversation_reader("claude", ConversationPlace("s", str(transcript), "/p", name))

    [told] = SessionTally(reader).count(60.0).totals
    assert (told.calls, told.input_tokens, told.output_tokens) == (5, 50, 25)


def test_calls_of_newer_versions_name_no_subagent_in_the_same_file(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    newer = {**said("2", None, call("t1", "Look at a.")), "version": "2.1.325"}
    file.write_text(json.dumps(newer) + "\n", encoding="utf-8")
    [item] = items(file)
    assert item.tool is not None
    assert item.tool.subagent is None


def test_an_unknown_subagent_has_no_messages(transcript: Path):
    assert items(transcript, "sidechain-0000000000000000") == []
