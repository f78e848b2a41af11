"""When and how the tokens of coding agents are recorded."""

import asyncio
from uuid import NAMESPACE_DNS, uuid5

import pytest
from tests.unit.board.boards import Board

from callboard.board.usage_recording import UsageRecorder
from callboard.board.usage_totals import HourTokens, SessionTokens
from callboard.events import usage
from callboard.events.json_values import as_list
from callboard.events.rows import Query
from callboard.state.usage_rows import HOUR_MS, NANOS


class _Transcripts:
    """What a machine counts, as a test says."""

    def __init__(self) -> None:
        self.told: list[SessionTokens] = []
        self.asked: list[str] = []

    async def usage(self, plate_id: str) -> SessionTokens:
        self.asked.append(plate_id)
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


class _Recording:
    def __init__(self) -> None:
        self.board, self.transcripts = Board(), _Transcripts()
        self.recorder = UsageRecorder(
            self.board.log, self.board.plates, self.transcripts.usage, self.board.clock
        )

    async def count(self, plate_id: str, *totals: HourTokens) -> list[int]:
        """Count twice; returns how many totals each event so far has."""
        self.transcripts.told = [SessionTokens(totals, whole=True)]
        for _ in range(2):
            await self.recorder.count(plate_id)
        told = await self.board.log.read(plate_id)
        return [len(as_list(one.payload["totals"])) for one in told if one.name == usage.COUNTED]


@pytest.fixture
def recording() -> _Recording:
    return _Recording()


async def test_only_what_is_new_is_recorded(recording: _Recording):
    plate = await recording.board.plates.register("claude", project_path="/p", session_id="s1")
    one = HourTokens(HOUR_MS, "opus", 1, 2, 3, 4, 1, None, 2)
    two = HourTokens(2 * HOUR_MS, "other", 1, 2, 3, 4, 1, 0.3)
    assert await recording.count(plate.plate_id, one) == [1]
    assert await recording.count(plate.plate_id, one, two) == [1, 1]


async def test_what_is_not_counted_to_its_end_is_counted_on(recording: _Recording):
    plate = await recording.board.plates.register("claude", project_path="/p", session_id="s1")
    one = HourTokens(HOUR_MS, "opus", 1, 2, 3, 4, 1)
    recording.transcripts.told = [SessionTokens([], whole=False), SessionTokens([one], whole=True)]
    counting = asyncio.create_task(recording.recorder.count(plate.plate_id))
    await recording.board.clock.advance(1.0)
    await counting
    assert len(await recording.board.log.rows(Query("token_usage"))) == 1


async def test_what_was_used_stays_used_when_a_transcript_is_cut(recording: _Recording):
    plate = await recording.board.plates.register("claude", project_path="/p", session_id="s1")
    await recording.count(plate.plate_id, HourTokens(HOUR_MS, "opus", 100, 50, 0, 0, 9))
    assert await recording.count(plate.plate_id, HourTokens(HOUR_MS, "opus", 5, 60, 0, 0, 1)) == [
        1,
        1,
    ]
    (row,) = await recording.board.log.rows(Query("token_usage"))
    assert (row["input_tokens"], row["output_tokens"], row["calls"]) == (100, 60, 9)
    assert await recording.count(plate.plate_id) == [1, 1]


async def test_what_was_spent_stays_spent_when_a_later_call_has_no_price(recording: _Recording):
    plate = await recording.board.plates.register("opencode", project_path="/p", session_id="s1")
    await recording.count(plate.plate_id, HourTokens(HOUR_MS, "grok", 10, 5, 0, 0, 1, 3.0))
    later = HourTokens(HOUR_MS, "grok", 20, 10, 0, 0, 2)
    assert await recording.count(plate.plate_id, later) == [1, 1]
    (row,) = await recording.board.log.rows(Query("token_usage"))
    assert (row["calls"], row["reported"], row["cost"]) == (2, 1, 3 * NANOS)


async def test_what_has_no_time_counts_in_the_hour_in_which_it_started(recording: _Recording):
    plate = await recording.board.plates.register("claude", project_path="/p", session_id="s1")
    await recording.count(plate.plate_id, HourTokens(0, "opus", 1, 1, 0, 0, 1))
    (row,) = await recording.board.log.rows(Query("token_usage"))
    assert row["hour"] == plate.created_at // HOUR_MS * HOUR_MS


async def test_the_session_of_a_workflows_agent_is_not_counted_twice(recording: _Recording):
    session = str(uuid5(NAMESPACE_DNS, "run"))
    plate = await recording.board.plates.register("claude", project_path="/p", session_id=session)
    assert await recording.count(plate.plate_id, HourTokens(HOUR_MS, "m", 1, 1, 0, 0, 1)) == []
    assert recording.transcripts.asked == []


async def test_a_session_that_starts_and_ends_between_two_looks_is_counted(recording: _Recording):
    plate = await recording.board.tell("session_start", source="startup")
    await recording.board.tell("session_end", reason="exit")
    recording.transcripts.told = [
        SessionTokens([HourTokens(HOUR_MS, "opus", 1, 1, 0, 0, 1)], whole=True)
    ]
    for _ in range(2):
        recording.recorder.look(plate.host, [])
        for _ in range(5):
            await recording.board.clock.advance(1.0)
    assert recording.transcripts.asked == [plate.plate_id]
    assert len(await recording.board.log.rows(Query("token_usage"))) == 1
    await recording.recorder.close()
