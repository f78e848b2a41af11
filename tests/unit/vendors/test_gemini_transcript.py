"""What the end of Gemini CLI's transcript says about Esc, in the records that the client writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.gemini.transcript import turn_end
from callboard.vendors.turns import TurnEnd

NOON = 1_769_860_800_000
ESC = {"type": "info", "content": "Request cancelled."}
SET = {"$set": {"lastUpdated": "2026-01-31T12:00:09.000Z"}}
ASKED = {"type": "user", "content": [{"text": "go"}]}
SAID = {"type": "gemini", "content": "Done."}
RESULT = {"type": "user", "content": [{"functionResponse": {"name": "run_shell_command"}}]}


def called(status: str) -> dict[str, Any]:
    return {"type": "gemini", "content": "", "toolCalls": [{"id": "1", "status": status}]}


@pytest.mark.parametrize(
    ("records", "at"),
    [
        ([ASKED, SAID, ESC, SET], NOON),
        ([ASKED, ESC, SET, called("cancelled"), RESULT, SET], NOON + 2000),
        ([ESC, ASKED], None),
        ([ESC, SAID], None),
        ([ESC, called("success"), RESULT], None),
        ([ASKED, SAID], None),
        ([{"type": "info", "content": "Update available"}], None),
        ([], None),
    ],
)
def test_esc_counts_until_something_follows_it(tmp_path: Path, records: list[Any], at: int | None):
    file, seconds = tmp_path / "chat.jsonl", 0
    lines = []
    for one in records:
        if one is SET:
            lines.append(one)
        else:
            seconds = 0 if one is ESC else seconds + 1
            lines.append({**one, "timestamp": f"2026-01-31T12:00:0{seconds}.000Z"})
    file.write_text("".join(json.dumps(one) + "\n" for one in lines) + '{"type": "us')
    assert turn_end(file) == (None if at is None else TurnEnd(at, interrupted=True))


def test_without_a_transcript_nothing_is_known(tmp_path: Path):
    assert turn_end(tmp_path / "none") is None
    assert turn_end(tmp_path) is None
