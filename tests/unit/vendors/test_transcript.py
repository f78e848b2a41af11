"""The end of a transcript."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.claude.transcript import (
    LONGEST_END,
    Ruling,
    read_end,
    ruling_on,
    ruling_since,
    was_interrupted,
)

INTERRUPTED = "[Request interrupted by user]"


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def result(id: str, **more: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": id, "content": "x"}], **more)


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "mark",
    [
        user(INTERRUPTED),
        user([{"type": "text", "text": INTERRUPTED}]),
        user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    ],
)
def test_a_turn_that_a_person_stopped(tmp_path: Path, mark: dict[str, Any]):
    after = {"type": "system", "subtype": "turn_duration"}
    path = written(tmp_path / "t.jsonl", user("go"), assistant("Well"), mark, after)
    assert was_interrupted(read_end(path))


@pytest.mark.parametrize(
    "records",
    [
        [],
        [user("go")],
        [user("go"), assistant("Done")],
        [user(INTERRUPTED), user("again")],
        [user(INTERRUPTED), assistant("Well")],
        [user("He said: " + INTERRUPTED)],
        [{"type": "user"}, {"type": "user", "message": 5}],
        [user(INTERRUPTED, isSidechain=True)],
    ],
)
def test_a_turn_that_nobody_stopped(records: list[dict[str, Any]]):
    assert not was_interrupted(records)


@pytest.mark.parametrize(
    ("record", "ruling"),
    [
        (
            {"permissionDecision": {"decision": "accept", "source": "user_temporary"}},
            Ruling(True, "user_temporary"),
        ),
        ({"permissionDecision": {"decision": "allow", "source": "hook"}}, Ruling(True, "hook")),
        ({"permissionDecision": {"decision": "reject", "source": "hook"}}, Ruling(False, "hook")),
        ({"toolDenialKind": "user-rejected"}, Ruling(False, "user-rejected")),
        ({"toolDenialKind": "interrupted"}, Ruling(None, "interrupted")),
        ({}, None),
        ({"permissionDecision": "odd"}, None),
        ({"permissionDecision": {"decision": "maybe"}}, None),
    ],
)
def test_who_decided(record: dict[str, Any], ruling: Ruling | None):
    records = [result("t0", toolDenialKind="x"), result("t1", **record), assistant("Well")]
    assert ruling_on(records, "t1") == ruling
    assert ruling_on(records, "t2") is None


def decided(at: Any, source: str) -> dict[str, Any]:
    ruling = {"decision": "accept", "source": source}
    return result("t1", timestamp=at, permissionDecision=ruling)


def test_the_last_ruling_since_a_moment():
    records = [
        decided("2026-01-31T12:00:00.000Z", "first"),
        decided("2026-01-31T12:00:02.000Z", "second"),
        assistant("Well") | {"timestamp": "2026-01-31T12:00:03.000Z"},
    ]
    noon = 1_769_860_800_000
    assert ruling_since(records, noon) == Ruling(True, "second")
    assert ruling_since(records, noon + 2000) == Ruling(True, "second")
    assert ruling_since(records, noon + 2001) is None


@pytest.mark.parametrize("odd", [None, 5, "", "yesterday", "0001-01-01T00:00:00"])
def test_a_ruling_of_no_moment_is_not_since_any(odd: Any):
    assert ruling_since([decided(odd, "x")], 1) is None


def test_only_the_end_is_read(tmp_path: Path):
    long = [assistant("x" * 1000) for _ in range(200)]
    path = written(tmp_path / "t.jsonl", result("t0"), *long, user(INTERRUPTED))
    records = read_end(path)
    assert len(json.dumps(records)) < LONGEST_END * 1.1
    assert was_interrupted(records)
    assert len(records) < len(long)


def test_a_line_that_is_half_written_is_left_out(tmp_path: Path):
    path = written(tmp_path / "t.jsonl", user("go"), assistant("Well"))
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"con')
    assert len(read_end(path)) == 2


def test_lines_that_are_odd_are_left_out(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xff\xfe\n5\n[]\n"x"\n\n{"type":"user"}\n')
    assert read_end(path) == [{"type": "user"}]


@pytest.mark.parametrize("name", ["none", "folder", "fifo", "nul\0"])
def test_what_cannot_be_read_has_no_end(tmp_path: Path, name: str):
    if name == "folder":
        (tmp_path / name).mkdir()
    if name == "fifo":
        os.mkfifo(tmp_path / name)
    assert read_end(tmp_path / name) == []
