"""The view `interactions`: what people who read questions with SQL see."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from callboard import Callboard
from callboard.events.moments import from_ms, iso
from callboard.interactions.records import Interaction
from callboard.testing.fake_clock import FakeClock


def read(path: Path) -> dict[str, dict[str, Any]]:
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        return {row["id"]: dict(row) for row in database.execute("SELECT * FROM interactions")}


def check_same(row: dict[str, Any], asked: Interaction) -> None:
    """The view says what the wire says."""
    wire = asked.to_wire()
    same = {"createdAt": "created_at", "resolvedAt": "resolved_at", "error": "error"}
    same |= {"deadline": "deadline", "claimedUntil": "claimed_until", "status": "status"}
    assert {name: row[column] for name, column in same.items()} == {k: wire[k] for k in same}
    assert orjson.loads(row["session_config"] or "null") == wire["config"]


async def test_moments_errors_and_configs_are_those_of_the_wire(tmp_path: Path):
    clock = FakeClock()
    async with Callboard.open(tmp_path / "cb.db", clock=clock) as board:
        ids: list[str] = []
        for config in (None, {"blockOrchestration": False}, {"model": "opus"}):
            clock.skip(1.007)
            asked = await board.people.ask(type="interactive_session", prompt="Look", config=config)
            await board.people.claim(asked.id, by="ann")
            ids.append(asked.id)
        ids.append((await board.people.ask(type="confirmation", prompt="Sure?")).id)
        clock.skip(3.001)
        await board.people.complete(ids[0], "failed", error='It said "no", 7 × {twice}')
        await board.people.complete(ids[1], "completed", response={"rows": 2})
        questions = {id: await board.interaction(id) for id in ids}
    rows = read(tmp_path / "cb.db")
    for id in ids:
        check_same(rows[id], questions[id])
    assert rows[ids[0]]["error"] == 'It said "no", 7 × {twice}'
    assert rows[ids[0]]["resolved_at"] == iso(from_ms(clock.now_ms()))
    assert [questions[id].config for id in ids] == [
        {"blockOrchestration": True},
        {"blockOrchestration": False},
        {"model": "opus", "blockOrchestration": True},
        None,
    ]
    assert orjson.loads(rows[ids[1]]["response"]) == {"rows": 2}


async def test_what_was_recorded_without_the_default_has_it(tmp_path: Path):
    """Rows of earlier versions: no default in the config, an error with its code."""
    path = tmp_path / "cb.db"
    async with Callboard.open(path) as board:
        asked = await board.people.ask(type="interactive_session", prompt="Look")
    with closing(sqlite3.connect(path)) as database, database:
        for config in (None, '{"model":"opus"}'):
            database.execute(
                "UPDATE human_interactions SET session_config = ?, error = ?",
                (config, '{"code":"X","message":"It broke."}'),
            )
            database.commit()
            async with Callboard.open(path) as board:
                check_same(read(path)[asked.id], await board.interaction(asked.id))
            assert read(path)[asked.id]["error"] == "It broke."
