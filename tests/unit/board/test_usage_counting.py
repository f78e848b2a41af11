"""Tokens in transcripts: each call counts once, however often and in which order it is read."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.board.usage_counting import SessionTally
from callboard.board.usage_totals import MOST_TOTALS, HourTokens, SessionTokens
from callboard.errors import TranscriptUnreadable
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPage,
    ConversationPlace,
    ConversationReader,
    TokenUsage,
    Window,
)
from callboard.vendors.conversations import conversation_reader

HOUR = 3_600_000
TEN = 1_763_373_600_000
"""Ten o'clock on a Monday, as in the records."""
LONG = 60.0


def record(call: str, output: int, *, at: str = "2025-11-17T10:00:00Z", **more: Any) -> str:
    usage = {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 3}
    message = {"id": call, "model": "opus", "content": [{"type": "text", "text": "hi"}]}
    told = {"type": "assistant", "uuid": f"{call}-{output}", "timestamp": at}
    return json.dumps({**told, "message": {**message, "usage": usage}, **more}) + "\n"


def tally(path: Path) -> SessionTally:
    def open_part(name: str | None) -> ConversationReader:
        return conversation_reader("claude", ConversationPlace("s", str(path), "/p", name))

    return SessionTally(open_part)


def counts(told: SessionTokens) -> Sequence[tuple[str, int, int, int]]:
    return [(one.model, one.input_tokens, one.output_tokens, one.calls) for one in told.totals]


def test_a_call_that_is_written_block_by_block_counts_once(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text(record("m1", 1) + record("m1", 7) + record("m2", 5), encoding="utf-8")
    told = tally(file).count(LONG)
    assert told.whole
    assert told.totals == [HourTokens(TEN, "opus", 20, 12, 6, 0, 2)]


def test_what_is_written_later_is_added(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text(record("m1", 1), encoding="utf-8")
    counting = tally(file)
    assert counts(counting.count(LONG)) == [("opus", 10, 1, 1)]
    assert counts(counting.count(LONG)) == [("opus", 10, 1, 1)]
    with file.open("a", encoding="utf-8") as more:
        more.write(record("m1", 4) + record("m2", 5, at="2025-11-18T00:00:01Z"))
    told = counting.count(LONG)
    assert counts(told) == [("opus", 10, 4, 1), ("opus", 10, 5, 1)]
    assert [one.hour for one in told.totals] == [TEN, TEN + 14 * HOUR]


def test_a_transcript_of_many_pages_is_counted_in_parts(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text("".join(record(f"m{at}", 1) for at in range(1200)), encoding="utf-8")
    counting = tally(file)
    assert not counting.count(0.0).whole
    rounds = 1
    while not (told := counting.count(0.0)).whole:
        rounds += 1
    assert counts(told) == [("opus", 12_000, 1200, 1200)]
    assert rounds > 2
    assert counts(tally(file).count(LONG)) == counts(told)


def test_a_transcript_that_is_rewritten_is_counted_again(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text(record("m1", 1) * 20, encoding="utf-8")
    counting = tally(file)
    counting.count(LONG)
    file.write_text(record("m9", 2), encoding="utf-8")
    assert counts(counting.count(LONG)) == [("opus", 10, 2, 1)]


def test_what_subagents_use_is_part_of_their_session(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    use = {"type": "tool_use", "id": "t1", "name": "Agent", "input": {}}
    call = {"id": "m1", "model": "opus", "content": [use], "usage": {"input_tokens": 1}}
    at = "2025-11-17T10:00:00Z"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "on its way"}
    records = [
        {"type": "assistant", "uuid": "a", "timestamp": at, "message": call},
        {
            "type": "user",
            "uuid": "b",
            "timestamp": at,
            "message": {"content": [result]},
            "toolUseResult": {"agentId": "abc"},
        },
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    counting = tally(file)
    assert counts(counting.count(LONG)) == [("opus", 1, 0, 1)]
    nested = tmp_path / "s" / "subagents" / "agent-abc.jsonl"
    nested.parent.mkdir(parents=True)
    nested.write_text(record("m2", 5), encoding="utf-8")
    assert counts(counting.count(LONG)) == [("opus", 11, 5, 2)]


def test_without_a_transcript_nothing_is_known(tmp_path: Path):
    with pytest.raises(TranscriptUnreadable):
        tally(tmp_path / "s.jsonl").count(LONG)


@given(st.lists(st.integers(0, 5), max_size=20), st.data())
def test_the_same_records_add_up_to_the_same_however_they_come(
    tmp_path_factory: pytest.TempPathFactory, calls: list[int], data: st.DataObject
):
    said = [(call, 1 + at) for at, call in enumerate(calls)]
    file = tmp_path_factory.mktemp("t") / "s.jsonl"
    file.write_text("", encoding="utf-8")
    counting, told = tally(file), SessionTokens([], whole=True)
    cuts = {*data.draw(st.lists(st.integers(0, len(said)), max_size=4)), len(said)}
    for cut in sorted(cuts):
        lines = (record(f"m{call}", output) for call, output in said[:cut])
        file.write_text("".join(lines), encoding="utf-8")
        told = counting.count(LONG)
    most: dict[int, int] = {}
    for call, output in said:
        most[call] = max(output, most.get(call, 0))
    expected = [("opus", 10 * len(most), sum(most.values()), len(most))] if most else []
    assert counts(told) == expected


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"totals": "odd", "whole": 1},
        {"totals": [{"hour": -5, "model": 7, "inputTokens": "x", "cost": "y", "calls": -1}]},
        {"totals": [{"hour": TEN, "cost": 0.0}, {"hour": TEN, "cost": 1e-10}]},
        {"totals": [{"hour": 10**30, "inputTokens": 10**30, "cost": 1e300}]},
    ],
)
def test_what_a_machine_sends_is_checked(told: dict[str, Any]):
    found = SessionTokens.checked(told)
    assert not found.whole
    assert all(one.cost is None and one.input_tokens == 0 for one in found.totals)


def test_what_a_machine_sends_arrives():
    told = SessionTokens([HourTokens(TEN, "opus", 1, 2, 3, 4, 5, 0.5, 2)], whole=True)
    assert SessionTokens.checked(json.loads(json.dumps(told.to_wire()))) == told


def test_a_transcript_that_is_rewritten_while_it_is_counted_is_not_counted_twice(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    file.write_text("".join(record(f"m{at}", 1) for at in range(1200)), encoding="utf-8")
    counting = tally(file)
    for _ in range(5):
        assert not counting.count(0.0).whole
    file.write_text("".join(record(f"n{at}", 1) for at in range(1300)), encoding="utf-8")
    assert counts(counting.count(LONG)) == [("opus", 13_000, 1300, 1300)]


def test_a_fork_starts_with_what_its_parent_has_used(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    copied = record("m1", 9, forkedFrom={"sessionId": "p", "messageUuid": "m1-9"})
    file.write_text(copied + record("m2", 5), encoding="utf-8")
    assert counts(tally(file).count(LONG)) == [("opus", 10, 5, 1)]


def test_what_is_cached_for_an_hour_is_counted_apart(tmp_path: Path):
    created = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300}
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 400, "cache_creation": created}
    content = [{"type": "text", "text": "hi"}]
    message = {"id": "m1", "model": "opus", "content": content, "usage": usage}
    at = "2025-11-17T10:00:00Z"
    told = {"type": "assistant", "uuid": "u", "timestamp": at, "message": message}
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(told) + "\n", encoding="utf-8")
    (one,) = tally(file).count(LONG).totals
    assert (one.cache_write_tokens, one.long_cache_write_tokens) == (400, 300)


class _Reader:
    """A conversation of one page."""

    def __init__(self, items: list[ConversationItem]) -> None:
        self.items = items

    def page(self, window: Window) -> ConversationPage:
        return ConversationPage([] if window.after else self.items, None, "end")


def test_a_client_that_says_a_call_cost_nothing_has_not_said_what_it_cost():
    usage = TokenUsage("local", 5, 5, cost=0.0, call="m1")
    item = ConversationItem("m1", TEN, "reply", "model", "hi", usage=usage)
    reader = cast("ConversationReader", _Reader([item]))
    (one,) = SessionTally(lambda _: reader).count(LONG).totals
    assert one.cost is None


def test_more_tokens_than_anything_can_use_are_not_counted():
    item = ConversationItem("m1", TEN, "reply", "model", "hi", usage=TokenUsage("m", 10**15, 5))
    (one,) = SessionTally(lambda _: cast("ConversationReader", _Reader([item]))).count(LONG).totals
    assert (one.input_tokens, one.output_tokens) == (0, 5)


def test_more_models_than_are_recorded_count_together():
    items = [
        ConversationItem(f"m{at}", TEN, "reply", "model", "hi", usage=TokenUsage(f"model-{at}", 5))
        for at in range(3000)
    ]
    told = SessionTally(lambda _: cast("ConversationReader", _Reader(items))).count(LONG)
    assert len(told.totals) == MOST_TOTALS
    assert sum(one.input_tokens for one in told.totals) == 15_000


def test_what_a_client_says_that_calls_cost_is_kept_when_it_says_nothing_of_others():
    items = [
        ConversationItem(
            id, TEN, "reply", "model", "hi", usage=TokenUsage("m", 5, cost=cost, call=id)
        )
        for id, cost in (("m1", 0.25), ("m2", 0.0), ("m3", None))
    ]
    reader = cast("ConversationReader", _Reader(items))
    (one,) = SessionTally(lambda _: reader).count(LONG).totals
    assert (one.calls, one.cost) == (3, 0.25)


def tokens(at: str, total: int) -> str:
    """What Codex writes after a call, and again when its limits change."""
    last = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
    told = {"type": "token_count", "info": info}
    return json.dumps({"timestamp": at, "type": "event_msg", "payload": told}) + "\n"


def test_a_call_that_is_repeated_hours_later_stays_in_its_hour(tmp_path: Path):
    file = tmp_path / "rollout-s.jsonl"
    file.write_text(tokens("2025-11-17T10:50:00Z", 15), encoding="utf-8")
    place = ConversationPlace("s", str(file), "/p", None)
    counting = SessionTally(lambda _: conversation_reader("codex", place))
    assert [one.hour for one in counting.count(LONG).totals] == [TEN]
    with file.open("a", encoding="utf-8") as more:
        more.write(tokens("2025-11-17T12:05:00Z", 15) + tokens("2025-11-17T12:06:00Z", 30))
    expected = [(TEN, 1), (TEN + 2 * HOUR, 1)]
    assert [(one.hour, one.calls) for one in counting.count(LONG).totals] == expected
    again = SessionTally(lambda _: conversation_reader("codex", place))
    assert [(one.hour, one.calls) for one in again.count(LONG).totals] == expected
