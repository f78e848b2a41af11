"""What a transcript says about a call of a tool, in the records that the real client writes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.claude.transcript import (
    LONGEST_END,
    CallResult,
    ToolUse,
    call_result,
    calls_of,
    turn_end,
)
from callboard.vendors.turns import TurnEnd

REJECTED = "The user doesn't want to proceed with this tool use."
BY_USER = {"decision": "accept", "source": "user_temporary"}
BY_HOOK = {"decision": "accept", "source": "hook", "reasonType": "hook"}
HOOK_DENIED = {"decision": "reject", "source": "hook", "reasonCode": "hook:PermissionRequest"}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)}}


def called(id: str, tool: str = "Bash", **input: Any) -> dict[str, Any]:
    return assistant({"type": "tool_use", "id": id, "name": tool, "input": input})


def result(id: str, content: str = "x", **more: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": id, "content": content}], **more)


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (result("t1", permissionDecision=BY_USER), CallResult(True, "terminal")),
        (result("t1", permissionDecision=BY_HOOK), CallResult(True, "hook")),
        (result("t1"), CallResult(True)),
        (
            result("t1", toolDenialKind="permission-rule", permissionDecision=HOOK_DENIED),
            CallResult(False, "hook"),
        ),
        (
            result("t1", REJECTED + " STOP", toolDenialKind="user-rejected"),
            CallResult(None, "terminal"),
        ),
        (
            result("t1", REJECTED + " the user said:\nuse mkdir", toolDenialKind="user-rejected"),
            CallResult(False, "terminal", message="use mkdir"),
        ),
        (result("t1", toolDenialKind="interrupted"), CallResult(None, "terminal")),
        (result("t1", toolDenialKind="permission-rule"), CallResult(False)),
        (result("t1", permissionDecision={"decision": "of another version"}), CallResult(False)),
        (result("t1", permissionDecision="odd"), CallResult(True)),
    ],
    ids=[
        "allowed in the terminal",
        "allowed by a hook",
        "needed no permission",
        "denied by a hook",
        "Esc",
        "denied with a message",
        "interrupted",
        "denied by a rule",
        "an unknown decision",
        "an odd decision",
    ],
)
def test_what_became_of_a_call(tmp_path: Path, record: dict[str, Any], expected: CallResult):
    before, after = result("t0", toolDenialKind="x"), assistant({"type": "text", "text": "Well"})
    path = written(tmp_path / "t.jsonl", called("t1"), before, record, after)
    assert call_result(path, "t1") == expected
    assert call_result(path, "t2") is None


def test_a_call_that_still_runs_has_no_result(tmp_path: Path):
    path = written(tmp_path / "t.jsonl", called("t1", command="ls"))
    assert call_result(path, "t1") is None


def test_what_a_question_was_answered_with(tmp_path: Path):
    told = {"answers": {"Which?": "SQLite", "When?": 5}}
    path = written(tmp_path / "t.jsonl", result("t1", toolUseResult=told))
    assert call_result(path, "t1") == CallResult(True, answers={"Which?": "SQLite"})


def test_a_text_that_quotes_a_result_is_none(tmp_path: Path):
    quoted = json.dumps(result("t1", toolDenialKind="user-rejected"))
    path = written(tmp_path / "t.jsonl", user(quoted), assistant({"type": "text", "text": quoted}))
    assert call_result(path, "t1") is None


def test_the_calls_of_a_tool_and_when_they_were_made(tmp_path: Path):
    noon = {"timestamp": "2026-01-31T12:00:00.000Z"}
    path = written(
        tmp_path / "t.jsonl",
        called("t1", command="ls") | noon,
        called("t2", "Read", file_path="x"),
        called("t3", command="pwd") | {"timestamp": "noon"},
    )
    assert calls_of(path, "Bash") == [
        ToolUse("t1", "Bash", {"command": "ls"}, 1_769_860_800_000),
        ToolUse("t3", "Bash", {"command": "pwd"}, None),
    ]


def test_only_the_end_is_read(tmp_path: Path):
    filler = [assistant({"type": "text", "text": "x" * 10_000}) for _ in range(LONGEST_END // 9000)]
    path = written(tmp_path / "t.jsonl", result("t0"), *filler, result("t1"))
    assert call_result(path, "t0") is None
    assert call_result(path, "t1") is not None


def test_lines_that_are_odd_or_half_written_are_left_out(tmp_path: Path):
    path = written(tmp_path / "t.jsonl", result("t1"))
    with path.open("ab") as file:
        file.write(
            b'\xff\xfe"tool_result" t1\n5\n[]\n"tool_result t1"\n{"type":"user","tool_result":"t1'
        )
    assert call_result(path, "t1") == CallResult(True)


@pytest.mark.parametrize("name", ["none", "folder", "fifo", "nul\0"])
def test_what_cannot_be_read_says_nothing(tmp_path: Path, name: str):
    if name == "folder":
        (tmp_path / name).mkdir()
    if name == "fifo":
        os.mkfifo(tmp_path / name)
    assert call_result(tmp_path / name, "t1") is None
    assert calls_of(tmp_path / name, "Bash") == []


NOON = 1_769_860_800_000
ESC = user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
SNAPSHOT = {"type": "attachment", "attachment": {"type": "prompt_snapshot", "text": "user"}}


def stopped(why: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"stop_reason": why, "content": []}, **more}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([stopped("tool_use"), ESC, SNAPSHOT, {"type": "last-prompt"}], TurnEnd(NOON, True)),
        ([user("hi"), stopped("end_turn"), {"type": "system"}], TurnEnd(NOON, False)),
        ([ESC, user("go on")], None),
        ([stopped("end_turn"), stopped("tool_use")], None),
        ([stopped("tool_use"), stopped(None)], None),
        ([stopped("tool_use"), stopped("end_turn", isSidechain=True)], None),
        ([ESC, user("a reminder", isMeta=True)], TurnEnd(NOON, True)),
        ([user("[Request interrupted by user] is what I typed")], None),
        ([], None),
    ],
)
def test_whether_a_turn_is_over(tmp_path: Path, records: list[Any], expected: TurnEnd | None):
    timed = [{**one, "timestamp": "2026-01-31T12:00:00.000Z"} for one in records]
    assert turn_end(written(tmp_path / "t.jsonl", *timed)) == expected
