"""Claude Code's transcripts as conversations, in the records that the real client writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import TranscriptUnreadable
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPlace,
    FileEdit,
    ToolRun,
    Window,
)
from callboard.vendors.conversations import conversation_reader

USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 2,
}
HUNK = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+c"]}


def user(content: Any, id: str = "u1", **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    at = "2026-11-16T14:09:30.635Z"
    return {"type": "user", "message": message, "uuid": id, "timestamp": at, **more}


def assistant(*blocks: Any, id: str = "a1", call: str = "m1", **more: Any) -> dict[str, Any]:
    message = {"id": call, "model": "opus", "content": blocks, "usage": USAGE, **more}
    return {"type": "assistant", "message": message, "uuid": id}


def called(id: str, name: str = "Bash", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any = "done", is_error: bool = False) -> list[dict[str, Any]]:
    told = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}
    return [told]


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def read(path: Path, *records: Any) -> list[ConversationItem]:
    file = path / "s.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    place = ConversationPlace("s", str(file), "/project")
    return conversation_reader("claude", place).page(Window()).items


def tool(items: list[ConversationItem]) -> ToolRun:
    [item] = items
    assert item.tool is not None
    return item.tool


@pytest.mark.parametrize(
    ("record", "kind", "author", "said"),
    [
        (user("go", origin={"kind": "human"}), "prompt", "person", "go"),
        (user("go"), "prompt", "person", "go"),
        (user([text("go"), text("on")]), "prompt", "person", "go\non"),
        (
            user("<command-name>/compact</command-name><command-args>all</command-args>"),
            "prompt",
            "person",
            "/compact all",
        ),
        (user("<bash-input>ls</bash-input>"), "prompt", "person", "! ls"),
        (user("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"), "notice", "client", "a"),
        (
            user("<task-notification>x</task-notification>", origin={"kind": "task-notification"}),
            "prompt",
            "program",
            "<task-notification>x</task-notification>",
        ),
        (
            user(
                "Another Claude session sent a message:\nstop\n\n"
                "This came from another Claude session — not typed by your user…",
                origin={"kind": "peer"},
                isMeta=True,
            ),
            "prompt",
            "program",
            "stop",
        ),
        (
            user(
                "Another Claude session sent a message:\n<cross-session-message from-name='x'>\n"
                "stop\n</cross-session-message>\n\nThis came from another Claude session",
                origin={"kind": "peer"},
                isMeta=True,
            ),
            "prompt",
            "program",
            "stop",
        ),
        (
            user("Stop hook feedback:\nrun the tests", isMeta=True),
            "prompt",
            "program",
            "Stop hook feedback:\nrun the tests",
        ),
        (
            user([text("[Request interrupted by user]")]),
            "notice",
            "client",
            "[Request interrupted by user]",
        ),
        (assistant(text("Hello.")), "reply", "model", "Hello."),
        (assistant({"type": "thinking", "thinking": "Hm."}), "thinking", "model", "Hm."),
        (assistant(text("Overloaded"), model="<synthetic>"), "notice", "client", "Overloaded"),
        (
            {"type": "system", "subtype": "compact_boundary", "content": "Compacted", "uuid": "s"},
            "compaction",
            "client",
            "Compacted",
        ),
        (
            {"type": "system", "subtype": "api_error", "level": "error", "content": "No network"},
            "notice",
            "client",
            "No network",
        ),
        (
            {
                "type": "attachment",
                "uuid": "q",
                "attachment": {
                    "type": "queued_command",
                    "prompt": "stop",
                    "origin": {"kind": "human"},
                },
            },
            "prompt",
            "person",
            "stop",
        ),
        (
            {
                "type": "attachment",
                "uuid": "q",
                "attachment": {"type": "hook_additional_context", "content": ["be quick"]},
            },
            "prompt",
            "program",
            "be quick",
        ),
    ],
)
def test_what_a_record_shows(tmp_path: Path, record: Any, kind: str, author: str, said: str):
    [item] = read(tmp_path, record)
    assert (item.kind, item.author, item.text) == (kind, author, said)


@pytest.mark.parametrize(
    "record",
    [
        {"type": "mode", "mode": "normal"},
        {"type": "attachment", "attachment": {"type": "environment"}},
        {"type": "api-request", "params": {}},
        {"type": "system", "subtype": "turn_duration", "durationMs": 1},
        {"type": "of-a-newer-version", "message": {"content": "x"}},
        user("What a skill says", isMeta=True),
        user("<system-reminder>x</system-reminder>", isMeta=True, turnCompanion=True),
        user("<local-command-stdout></local-command-stdout>"),
        user("go", isSidechain=True),
        assistant(),
        assistant({"type": "redacted_thinking", "data": "x"}),
    ],
)
def test_records_that_show_nothing(tmp_path: Path, record: Any):
    assert read(tmp_path, record) == []


def test_a_command_and_its_result_are_one_item(tmp_path: Path):
    items = read(tmp_path, assistant(called("t1", command="ls")), user(result("t1", "a\nb")))
    assert tool(items) == ToolRun("Bash", {"command": "ls"}, "ls", "a\nb", "done", [])
    assert items[0].id == "t1"


def test_the_result_alone_has_no_name(tmp_path: Path):
    assert tool(read(tmp_path, user(result("t1")))).name == ""


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (user(result("t1")), "done"),
        (user(result("t1", is_error=True)), "failed"),
        (user(result("t1", is_error=True), toolDenialKind="user-rejected"), "denied"),
        (user(result("t1", is_error=True), toolDenialKind="interrupted"), "failed"),
        (user(result("t1"), permissionDecision={"decision": "reject"}), "denied"),
        (user(result("t1"), permissionDecision={"decision": "accept"}), "done"),
    ],
)
def test_how_a_call_ended(tmp_path: Path, answer: Any, status: str):
    assert tool(read(tmp_path, assistant(called("t1")), answer)).status == status


def test_an_edit_is_shown_before_it_is_made_and_then_as_it_was_made(tmp_path: Path):
    call = assistant(called("t1", "Edit", file_path="/a", old_string="b", new_string="c"))
    assert tool(read(tmp_path, call)).edits == [FileEdit("/a", "@@ @@\n-b\n+c\n")]
    done = user(result("t1"), toolUseResult={"filePath": "/a", "structuredPatch": [HUNK]})
    expected = [FileEdit("/a", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")]
    assert tool(read(tmp_path, call, done)).edits == expected


def test_a_new_file_is_all_added(tmp_path: Path):
    call = assistant(called("t1", "Write", file_path="/a", content="one\ntwo\n"))
    assert tool(read(tmp_path, call)).edits == [FileEdit("/a", "@@ -0,0 +1,2 @@\n+one\n+two\n")]


def test_images_of_prompts_and_results(tmp_path: Path):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
    items = read(tmp_path, user([image, text("see")]), user(result("t1", [image]), "u2"))
    assert [[one.data for one in item.images] for item in items] == [["aa"], ["aa"]]


def test_a_call_of_the_model_is_counted_once(tmp_path: Path):
    first = assistant(text("one"), id="a1")
    second = assistant(called("t1"), id="a2")
    other = assistant(text("three"), id="a3", call="m2")
    usages = [item.usage for item in read(tmp_path, first, second, other)]
    assert [one.call if one else None for one in usages] == [None, "m1", "m2"]
    assert usages[2] is not None
    assert (usages[2].cache_read_tokens, usages[2].cache_write_tokens) == (3, 2)


def test_a_compaction_has_its_summary(tmp_path: Path):
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "x", "uuid": "b"}
    summary = user("The summary.", "u9", isCompactSummary=True, parentUuid="b")
    [item] = read(tmp_path, boundary, summary)
    assert (item.id, item.kind, item.text) == ("b", "compaction", "The summary.")


def test_a_subagent_has_a_conversation_of_its_own(tmp_path: Path):
    launched = user(result("t1"), toolUseResult={"agentId": "abc"})
    assert tool(read(tmp_path, assistant(called("t1", "Agent")), launched)).subagent == "abc"
    nested = tmp_path / "s" / "subagents" / "agent-abc.jsonl"
    nested.parent.mkdir(parents=True)
    nested.write_text(json.dumps(user("look around", isSidechain=True)) + "\n", encoding="utf-8")
    place = ConversationPlace("s", str(tmp_path / "s.jsonl"), "/project", "abc")
    reader = conversation_reader("claude", place)
    assert [item.text for item in reader.page(Window()).items] == ["look around"]
    assert reader.watched() == [str(nested)]


@pytest.mark.parametrize("subagent", ["../../x", "", "a/b", "a\x00b"])
def test_a_subagent_is_no_path(tmp_path: Path, subagent: str):
    place = ConversationPlace("s", str(tmp_path / "s.jsonl"), "/project", subagent)
    with pytest.raises(TranscriptUnreadable):
        conversation_reader("claude", place).page(Window())


def test_a_transcript_is_found_by_its_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    place = ConversationPlace("s", None, "/home/me/a.b")
    [watched] = conversation_reader("claude", place).watched()
    assert watched == str(tmp_path / "projects" / "-home-me-a-b" / "s.jsonl")


def test_agents_without_readable_conversations():
    with pytest.raises(TranscriptUnreadable, match="nosuch"):
        conversation_reader("nosuch", ConversationPlace("s", None, "/project"))
