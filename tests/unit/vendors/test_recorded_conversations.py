"""Conversations that the real clients recorded: every step, with what people want to see of it."""

import json
from pathlib import Path

import pytest
from tests.unit.vendors.recordings import PAYLOADS

from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPlace,
    FileEdit,
    ToolRun,
    Window,
)
from callboard.vendors.conversations import conversation_reader

A_DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
B_DIFF = "@@ -0,0 +1,2 @@\n+x\n+y\n"
FAILED = "cat: nosuch: No such file or directory"


def items(agent: str, file: str = "conversation.jsonl") -> list[ConversationItem]:
    path = PAYLOADS / agent / file
    reader = conversation_reader(agent, ConversationPlace("s", str(path), "/home/me/project"))
    return reader.page(Window()).items


def said(items: list[ConversationItem]) -> list[tuple[str, str, str]]:
    return [
        (one.kind, one.author, one.text)
        for one in items
        if one.tool is None and one.kind != "usage"
    ]


def runs(items: list[ConversationItem]) -> list[ToolRun]:
    return [one.tool for one in items if one.tool is not None]


def edits(items: list[ConversationItem]) -> list[FileEdit]:
    done = [run for run in runs(items) if run.status == "done"]
    return [edit for run in done for edit in run.edits]


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (
            "claude",
            [
                ("prompt", "person", "play:go"),
                ("prompt", "program", "UPS-CONTEXT"),
                ("reply", "model", "I shall."),
                ("notice", "client", "HOOK-SYSTEM"),
                ("prompt", "program", "HOOK-CONTEXT"),
                ("reply", "model", "Done."),
                ("prompt", "program", "Stop hook feedback:\nSTOP-BLOCK"),
                ("reply", "model", "ok"),
            ],
        ),
        ("codex", [("prompt", "person", "play:go"), ("reply", "model", "Done.")]),
        (
            "gemini",
            [
                ("prompt", "person", "play:go"),
                ("reply", "model", "I shall."),
                ("reply", "model", "Done."),
            ],
        ),
    ],
)
def test_what_was_said(agent: str, expected: list[tuple[str, str, str]]):
    assert said(items(agent)) == expected


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_commands_and_how_they_ended(agent: str):
    first, second = runs(items(agent))[:2]
    assert (first.command, (first.result or "").strip()) == ("echo hello", "hello")
    assert (first.status, second.status) == ("done", "failed")
    assert FAILED in (second.result or "")


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_changes_of_files(agent: str):
    expected = [
        FileEdit("/home/me/project/a.txt", A_DIFF),
        FileEdit("/home/me/project/b.txt", B_DIFF),
    ]
    assert edits(items(agent)) == expected


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_images(agent: str):
    [image] = [image for item in items(agent) for image in item.images]
    assert image.media_type == "image/png"
    assert (image.data or "").startswith("iVBORw0KGgo")


@pytest.mark.parametrize(("agent", "calls"), [("claude", 6), ("codex", 8), ("gemini", 7)])
def test_each_call_of_the_model_is_counted_once(agent: str, calls: int):
    usages = [item.usage for item in items(agent) if item.usage is not None]
    assert len({usage.call for usage in usages}) == len(usages) == calls
    assert all((usage.input_tokens, usage.output_tokens) == (10, 5) for usage in usages)
    assert all(usage.model for usage in usages)


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_every_item_has_an_id_and_a_time(agent: str):
    found = items(agent)
    assert len({item.id for item in found}) == len(found)
    assert all(item.at is not None for item in found)


def test_a_subagent_of_claude():
    [agent] = [run for run in runs(items("claude")) if run.name == "Agent"]
    assert agent.subagent is not None
    assert agent.result == "Sub done."
    nested = said(items("claude", "subagent.jsonl"))
    assert nested == []  # It isn't part of the session's own conversation.


def test_calls_of_codex_that_the_client_does_not_know():
    unknown = [run for run in runs(items("codex")) if run.name == "apply_patch"]
    assert [(run.status, run.edits[0].path) for run in unknown] == [("failed", "a.txt")]


@pytest.mark.parametrize("sought", ["git status", "status --short", "GIT STATUS --SHORT"])
def test_a_command_of_codex_that_is_given_word_by_word_is_found(tmp_path: Path, sought: str):
    action = {"type": "exec", "command": ["git", "status", "--short"]}
    call = {"type": "local_shell_call", "call_id": "c1", "action": action}
    said = {"type": "message", "role": "assistant", "content": []}
    file = tmp_path / "rollout.jsonl"
    lines = [json.dumps({"type": "response_item", "payload": one}) for one in (call, said)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    reader = conversation_reader("codex", ConversationPlace("s", str(file), "/project"))
    assert [one.id for one in reader.search(sought, Window()).found] == ["c1"]
    assert not reader.search("git log", Window()).found
