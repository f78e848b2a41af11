"""What is wrong, huge or strange is told or kept as it is, and nothing hangs."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, HumanInteractive, Interactive, Phase, State, Workflow
from callboard.errors import Claimed, ConflictError, ValidationError
from callboard.interactions.records import HumanInteractionRow, interaction
from callboard.log.tables import FROM_SESSION
from callboard.testing.fake_clock import FakeClock

STRANGE = "\x00\x1b[31m\x07\r\n\u202e<b>&amp;]]>\u2028\ufeff🎭 'quoted' \"twice\" `code` $(x)"


async def test_strange_text_is_kept_as_it_is(board: Callboard):
    id = await board.human.request_interactive(
        STRANGE, {"systemPrompt": STRANGE, "context": {STRANGE: [STRANGE]}}, standalone=True
    )
    asked = await board.human.get(id)
    assert (asked.prompt, asked.config["context"]) == (STRANGE, {STRANGE: [STRANGE]})
    done = await board.human.complete_interactive(id, "completed", {STRANGE: STRANGE}, by=STRANGE)
    assert (done.response, done.answered_by) == ({STRANGE: STRANGE}, STRANGE)


async def test_context_of_ten_megabytes_is_kept_whole(board: Callboard):
    context = {"log": "0123456789abcdef" * 655_360}
    interactive = HumanInteractive[Any](board, standalone=True)
    waiting = interactive.request_async("Look at the log", context=context)
    [asked] = await _pending(board)
    assert asked.config["context"] == context
    await board.human.complete_interactive(asked.id, "completed", context)
    assert (await waiting).response == context


async def _pending(board: Callboard) -> list[Any]:
    while not (found := await board.human.list_pending("*")):
        await asyncio.sleep(0)
    return found


@pytest.mark.parametrize(
    "context",
    [{"x": float("nan")}, {"x": object()}, {"x": "\ud800"}, {"x": 10**400}, {1: {2: {3}}}],
    ids=["no number", "an object", "half a character", "huge", "a set"],
)
async def test_context_that_is_no_json_is_refused(board: Callboard, context: Any):
    with pytest.raises(ValidationError, match="config") as caught:
        await board.human.request_interactive("?", standalone=True, context=context)
    assert caught.value.field == "config"
    assert await board.human.list_pending("*") == []


async def test_an_outcome_that_is_none(board: Callboard):
    id = await board.human.request_interactive("?", standalone=True)
    with pytest.raises(ValidationError, match="'maybe' is not an outcome"):
        await board.human.complete_interactive(id, "maybe")
    for outcome in ("cancelled", "timeout", "failed"):
        with pytest.raises(ValidationError, match="has no response"):
            await board.human.complete_interactive(id, outcome, "approved")
    with pytest.raises(ValidationError, match="durationMs"):
        await board.human.complete_interactive(id, "completed", duration=-1)
    assert (await board.human.get(id)).status == "pending"


async def test_a_schema_that_is_none_is_told_to_whoever_asks(board: Callboard):
    interactive = HumanInteractive[Any](board, standalone=True)
    for schema in ({"type": "thing"}, {"type": "selection"}, {"$ref": "https://example.org/x"}):
        with pytest.raises(ValidationError) as caught:
            interactive.request("?", outcome_schema=schema)
        assert str(caught.value.field).startswith("config.outcomeSchema")
    assert interactive.status == "idle"


async def test_a_record_that_is_resolved_stays_so(board: Callboard):
    id = await board.human.request_interactive("?", standalone=True)
    await board.human.complete_interactive(id, "completed", "first")
    for outcome in ("completed", "cancelled", "timeout", "failed"):
        with pytest.raises(ConflictError) as caught:
            await board.human.complete_interactive(id, outcome)
        assert caught.value.interaction_id == id
    assert (await board.human.get(id)).response == "first"


async def test_a_clock_that_is_put_back_frees_claims_and_ends_sessions_all_the_same(
    board: Callboard, clock: FakeClock
):
    id = await board.human.request_interactive("?", standalone=True)
    await board.people.claim(id, by="ann")
    clock.skip(-400 * 86_400)
    # Else nobody could claim it for more than a year.
    assert (await board.people.claim(id, by="bob")).claimed_by == "bob"
    with pytest.raises(Claimed):
        await board.people.claim(id, by="ann")
    done = await board.human.complete_interactive(id, "completed", "fine", duration=3)
    assert (done.status, done.duration_ms) == ("completed", 3000)
    assert done.resolved_at is not None
    assert done.resolved_at < done.created_at


async def test_a_clock_that_jumps_ahead_never_approves(board: Callboard, clock: FakeClock):
    workflow = Workflow(
        "w",
        state=State,
        phases=[Phase("a", human=Interactive("?", within=3600), terminal=True)],
    )
    session = (await board.run(workflow)).session_id
    clock.skip(-86_400)
    assert (await board.drive(session)).status == "waiting"
    clock.skip(10 * 86_400)
    assert (await board.drive(session)).status == "completed"
    response = (await board.state(session)).human_response
    assert (response.outcome, response.approved) == ("timeout", None)


async def test_the_raw_row_and_what_is_made_of_it(tmp_path: Path):
    path = tmp_path / "cb.db"
    async with Callboard.open(path) as board:
        schema = {"type": "structured", "jsonSchema": {"type": "object"}}
        config = {"captureTranscript": True, "outcomeSchema": schema}
        id = await board.human.request_interactive("?", config, standalone=True)
        await board.human.complete_interactive(
            id, "completed", {"approved": True}, transcript="hm", duration=1.5
        )
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    found = database.execute("SELECT * FROM human_interactions").fetchall()
    database.close()
    row: dict[str, Any] = dict(found[0])
    assert set(row) == set(HumanInteractionRow.__annotations__) - set(FROM_SESSION)
    row |= dict.fromkeys(FROM_SESSION)  # A log adds what it knows of the session that asks.
    assert row["type"] == "interactive_session"
    # Lifecycle in the status, the decision in the response.
    assert (row["status"], json.loads(row["response"])) == ("completed", {"approved": True})
    config["blockOrchestration"] = True  # The default is stored too.
    assert json.loads(row["session_config"]) == config
    assert (row["session_transcript"], row["session_duration"]) == ("hm", 1500)
    parsed = interaction(row, 0)
    assert (parsed.response, parsed.config) == ({"approved": True}, config)
    assert (parsed.transcript, parsed.duration_ms, parsed.options) == ("hm", 1500, None)
