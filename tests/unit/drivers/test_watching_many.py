"""Many sessions in one file: taken up page by page, and those that wait cost nothing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.lookout import PAGE
from callboard.drivers.watching import WatchingDriver
from callboard.events.rows import Query
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock

MANY = 2 * PAGE + 200
CALLS: Counter[str] = Counter()


@agent
async def work(state: State, ctx: Context) -> str:
    CALLS[ctx.session_id] += 1
    return ctx.phase


FLOW = Workflow(
    "w",
    state=State,
    phases=[
        Phase("one", agent=work, human=Approval("Sure?", timeout=60), next="two"),
        Phase("two", agent=work, terminal=True),
    ],
)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Callboard]:
    clock = FakeClock()
    async with Callboard(SqliteLog.open(tmp_path / "log.db", project, clock), [FLOW], clock) as it:
        yield it


async def test_more_sessions_than_fit_a_page_are_all_driven(board: Callboard):
    CALLS.clear()
    assert isinstance(board.clock, FakeClock)
    await asyncio.gather(*(board.start("w", session_id=f"s{number}") for number in range(MANY)))
    driver = WatchingDriver(board.driver, board.log, board.clock)
    await driver.start()
    assert driver.driving == 64
    assert driver.queued == PAGE - 64
    waiting = Query("sessions", {"status": "waiting"}, count=True)
    async with asyncio.timeout(90):
        while await board.log.rows(waiting) != [{"count": MANY}]:
            await asyncio.sleep(0.01)
    assert await board.log.unsettled() == []
    # Then all their deadlines pass at once, and it is the clock that gives them work.
    await board.clock.advance(60)
    async with asyncio.timeout(90):
        while await board.log.rows(Query("wakeups", limit=1)):
            await asyncio.sleep(0.01)
    assert set(CALLS.values()) == {1}
    assert len(CALLS) == MANY
    await driver.stop(0)
