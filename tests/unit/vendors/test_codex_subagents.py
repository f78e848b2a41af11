"""Subagents of Codex, as it recorded them: their conversations are nested and counted once."""

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.vendors.recordings import PAYLOADS

from callboard.board.usage_counting import SessionTally
from callboard.errors import TranscriptUnreadable
from callboard.vendors.codex.payloads import translate
from callboard.vendors.conversation import ConversationItem, ConversationPlace, Window
from callboard.vendors.conversations import conversation_reader

FOLDER = PAYLOADS / "codex" / "subagents"
PLAIN = "01a1f5df-f80b-76c1-b4d4-d770f88dad8d"
PLAIN_AGENT = "01a1f5df-f8bc-7381-8815-11de0ed8ebe6"
FORKED = "01a1f5e2-17fe-7f31-8b59-c54ff74368b8"
FORKED_AGENT = "01a1f5e2-18d0-7631-b25d-11a8ef424991"
"""The second started with a copy of its session's conversation."""
BOTH = pytest.mark.parametrize(("session", "agent"), [(PLAIN, PLAIN_AGENT), (FORKED, FORKED_AGENT)])


def place(session: str, agent: str | None = None, folder: Path = FOLDER) -> ConversationPlace:
    [path] = folder.glob(f"*{session}.jsonl")
    return ConversationPlace(session, str(path), "/home/me/project", agent)


def items(session: str, agent: str | None = None) -> list[ConversationItem]:
    return conversation_reader("codex", place(session, agent)).page(Window()).items


@BOTH
def test_the_call_names_its_subagent(session: str, agent: str):
    runs = [one.tool for one in items(session) if one.tool is not None]
    assert [run.subagent for run in runs if run.name == "spawn_agent"] == [agent]
    assert [run.subagent for run in runs if run.name != "spawn_agent"] == [None] * (len(runs) - 1)


@BOTH
def test_only_what_the_subagent_did_is_nested(session: str, agent: str):
    nested = items(session, agent)
    commands = [one.tool.command for one in nested if one.tool is not None]
    assert commands == (["echo hi"] if agent == PLAIN_AGENT else [])
    assert [one.text for one in nested if one.kind == "reply"] == ["Child says done."]
    assert "PARENTGO please" not in [one.text for one in nested]
    assert (
        not conversation_reader("codex", place(session, agent)).search("PARENTGO", Window()).found
    )


def test_what_a_subagent_answers_is_from_a_program():
    [answer] = [one for one in items(FORKED) if one.author == "program"]
    assert (answer.kind, answer.text) == ("prompt", "Child says done.")


@pytest.mark.parametrize(("session", "calls"), [(PLAIN, 3 + 2), (FORKED, 4 + 1)])
def test_tokens_of_subagents_are_counted_once(session: str, calls: int):
    tally = SessionTally(lambda name: conversation_reader("codex", place(session, name)))
    told = tally.count(60.0)
    assert told.whole
    assert sum(one.calls for one in told.totals) == calls
    assert sum(one.output_tokens for one in told.totals) == 5 * calls
    assert {one.model for one in told.totals} == {"scripted"}


@pytest.mark.parametrize("other", [FORKED_AGENT, FORKED, "../x", "*"])
def test_other_sessions_are_not_read_as_subagents(other: str):
    with pytest.raises(TranscriptUnreadable):
        items(PLAIN, other)


def test_a_subagent_that_started_on_another_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    days = [tmp_path / "sessions" / "2026" / "11" / day for day in ("19", "20")]
    for day, id in zip(days, (PLAIN, PLAIN_AGENT), strict=True):
        day.mkdir(parents=True)
        shutil.copy(next(FOLDER.glob(f"*{id}.jsonl")), day)
    reader = conversation_reader("codex", place(PLAIN, PLAIN_AGENT, days[0]))
    assert "Child says done." in [one.text for one in reader.page(Window()).items]


def test_hooks_of_a_subagent_leave_the_transcript_of_the_session():
    own = {"session_id": PLAIN, "transcript_path": "/home/me/.codex/sessions/a.jsonl", "model": "m"}
    hook = {**own, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
    report = translate(json.loads(json.dumps(hook)))
    assert report is not None
    assert (report.transcript_path, report.model) == (own["transcript_path"], "m")
    nested = translate({**hook, "agent_id": PLAIN_AGENT})
    assert nested is not None
    assert (nested.transcript_path, nested.model) == (None, None)
