"""Statistics from a log: what counts, and that counting a lot holds up nothing else."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, Phase, State, Workflow
from callboard.engine.outputs import OutputType
from callboard.engine.ports import Item, Output
from callboard.events.payloads.agents import AgentDetails
from callboard.events.rows import KEYS, Query
from callboard.state.statistics import DAY_MS, Spread
from callboard.testing.fake_clock import FakeClock

SESSIONS = 100_000


class Metered:
    """An agent that says what it used."""

    name = "metered"
    output = OutputType("metered")
    details: AgentDetails = {}

    def __init__(self, usage: dict[str, Any]) -> None:
        self._usage = usage

    async def stream(self, state: object, ctx: object) -> AsyncGenerator[Item]:
        """End at once."""
        yield Output("done", self._usage)


def using(**usage: Any) -> Workflow:
    """A workflow with two agents that use as much."""
    agent = Metered(usage)
    first = Phase("first", agent=agent, next="second")
    return Workflow("w", state=State, phases=[first, Phase("second", agent=agent, terminal=True)])


async def test_tokens_add_up_and_a_rebuild_finds_them_again(tmp_path: Path) -> None:
    async with Callboard.open(tmp_path / "x.db", [using(inputTokens=7, outputTokens=2)]) as board:
        for _ in range(3):
            await board.drive(await board.start("w"))
        told = await board.statistics.workflow("w")
        assert (told.input_tokens, told.output_tokens) == (42, 12)
        before = {table: await board.log.rows(Query(table)) for table in KEYS}
        await board.rebuild()
        assert {table: await board.log.rows(Query(table)) for table in KEYS} == before


@pytest.mark.parametrize("count", ["many", -1, 1.5, True, None, 10**15, [1]])
async def test_what_is_no_number_of_tokens_counts_for_nothing(count: Any) -> None:
    async with Callboard.open(None, [using(inputTokens=count, outputTokens=1)]) as board:
        await board.drive(await board.start("w"))
        told = await board.statistics.workflow("w")
        assert (told.completed, told.input_tokens, told.output_tokens) == (1, 0, 2)


async def test_only_runs_of_the_period_count() -> None:
    clock = FakeClock()
    async with Callboard.open(None, [using()], clock=clock) as board:
        await board.drive(await board.start("w"))
        await clock.advance(3 * DAY_MS / 1000)
        await board.drive(await board.start("w"))
        assert (await board.statistics.workflow("w", days=3)).runs == 1
        whole = await board.statistics.overview(days=4)
        assert [day.completed for day in whole.total.per_day] == [1, 0, 0, 1]


def fill(path: Path, now_ms: int) -> None:
    """Sessions as a busy server has them after a month, straight into their table."""
    with closing(sqlite3.connect(path)) as database, database:
        # The one that is shown whole: nothing else looks at the streams.
        database.execute("INSERT INTO streams (id, head, updated_at) VALUES ('s000020', 1, 1)")
        database.executemany(
            "INSERT INTO sessions (id, workflow, created_at, phase, ended, ended_at, error, "
            "input_tokens, output_tokens) VALUES (?, ?, ?, 'p', ?, ?, ?, 10, 1)",
            (
                (
                    f"s{number:06}",
                    f"w{number % 20}",
                    now_ms - number * 25_000,
                    "failed" if number % 40 == 20 else "completed",
                    now_ms - number * 25_000 + number % 1000,
                    '{"message": "No ink."}' if number % 40 == 20 else None,
                )
                for number in range(SESSIONS)
            ),
        )


def add(path: Path, workflow: str, runs: int, until_ms: int) -> None:
    """Runs that took a millisecond for each letter of their workflow, one a second."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany(
            "INSERT INTO sessions (id, workflow, created_at, phase, ended, ended_at) "
            "VALUES (?, ?, ?, 'p', 'completed', ?)",
            (
                (f"{workflow}-{number:06}", workflow, at, at + len(workflow))
                for number, at in enumerate(range(until_ms, until_ms - runs * 1000, -1000))
            ),
        )


async def test_a_busy_workflow_leaves_a_rare_one_its_durations(tmp_path: Path) -> None:
    async with Callboard.open(tmp_path / "x.db") as board:
        now = board.clock.now_ms()
        add(tmp_path / "x.db", "busy", 3000, now)
        add(tmp_path / "x.db", "rare run", 3, now - DAY_MS)
        busy, rare = (await board.statistics.overview()).workflows
    assert (busy.runs, busy.duration) == (3000, Spread(4, 4, 2000))
    assert (rare.runs, rare.duration) == (3, Spread(8, 8, 3))


async def turns(during: Callable[[], Any]) -> tuple[Any, int]:
    """What it gives, and how often the loop turned meanwhile."""
    count = 0

    async def turn() -> None:
        nonlocal count
        while True:
            await asyncio.sleep(0.001)
            count += 1

    turning = asyncio.create_task(turn())
    try:
        return await during(), count
    finally:
        turning.cancel()
        with suppress(asyncio.CancelledError):
            await turning


@pytest.mark.long
async def test_a_hundred_thousand_sessions(tmp_path: Path) -> None:
    async with Callboard.open(tmp_path / "x.db") as board:
        fill(tmp_path / "x.db", board.clock.now_ms())
        whole, turned = await turns(lambda: board.statistics.overview(days=365))
        assert (whole.total.runs, len(whole.workflows), whole.limited) == (SESSIONS, 20, False)
        add(tmp_path / "x.db", "w1", 1, board.clock.now_ms())
        assert (await board.statistics.overview(days=365)).limited
        assert whole.total.input_tokens == 10 * SESSIONS
        assert turned > 5
        one, turned = await turns(lambda: board.statistics.workflow("w0", days=365))
        assert (one.runs, one.failed, one.limited) == (SESSIONS // 20, SESSIONS // 40, False)
        assert one.last_failure is not None
        assert one.last_failure.session_id == "s000020"
        assert turned > 1
