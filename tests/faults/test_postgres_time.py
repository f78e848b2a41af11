"""Machines whose clocks are wrong, on one PostgreSQL log: the database's time counts."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.in_process import run_here
from tests.postgres import PostgresServer

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.clock import SystemClock
from callboard.drivers.watching import WatchingDriver
from callboard.errors import SessionOwned
from callboard.events.rows import Query
from callboard.log.postgres.log import PostgresLog
from callboard.log.postgres.setup import NOW_MS
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import several

GUARD = 120.0
FIVE_MINUTES = 300_000
NEAR = 1000
"""How far from the database's time is right, in milliseconds."""

now_ms = SystemClock.now_ms


class WrongClock(SystemClock):
    """The clock of a machine that is ahead, or behind."""

    def __init__(self, ahead_ms: int) -> None:
        super().__init__()
        self._ahead = ahead_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._ahead


@pytest.fixture
def server_ms(postgres: PostgresServer) -> Callable[[], int]:
    """The time of the database."""

    def now() -> int:
        ((found,),) = postgres.execute(f"SELECT {NOW_MS}")
        assert isinstance(found, int)
        return found

    return now


class Request(State):
    granted: bool | None = None


def flow(timeout: float) -> Workflow:
    question = Approval("Grant it?", timeout=timeout, on_timeout="reject")
    return Workflow("request", state=Request, phases=[Phase("ask", human=question, terminal=True)])


@pytest.mark.parametrize("ahead", [FIVE_MINUTES, -FIVE_MINUTES])
async def test_deadlines_follow_the_database(
    ahead: int, postgres_url: str, server_ms: Callable[[], int]
):
    patient, brief = flow(3600), flow(0.5)
    async with Callboard.open(postgres_url, [patient], clock=WrongClock(ahead)) as board:
        before = server_ms()
        await board.run(patient, session_id="patient")
        after = server_ms()
        [row] = await board.log.rows(Query("human_interactions"))
        assert before - NEAR <= row["created_at"] <= after + NEAR
        assert before + 3_600_000 - NEAR <= row["deadline"] <= after + 3_600_000 + NEAR
    other = WrongClock(-ahead)
    async with Callboard.open(postgres_url, [brief], clock=other) as board:
        watching = WatchingDriver(board.driver, board.log, board.clock)
        await watching.start()
        session = await board.start("request")
        async with asyncio.timeout(GUARD):
            while (await board.session(session)).status != "completed":
                await asyncio.sleep(0.05)
        await watching.stop(0)
        assert (await board.session("patient")).status == "waiting"


async def test_a_clock_that_is_set_is_corrected_again(
    postgres_url: str, server_ms: Callable[[], int]
):
    clock = WrongClock(0)
    log = PostgresLog.open(postgres_url, clock=clock)
    try:
        await log.lease("s")
        clock._ahead = FIVE_MINUTES
        async with asyncio.timeout(GUARD):
            while abs(clock.now_ms() - server_ms()) > NEAR:
                await asyncio.sleep(0.05)
    finally:
        await log.close()


async def test_leases_do_not_depend_on_clocks(postgres_url: str):
    ahead = PostgresLog.open(postgres_url, clock=WrongClock(FIVE_MINUTES))
    behind = PostgresLog.open(postgres_url, clock=WrongClock(-FIVE_MINUTES))
    try:
        await ahead.append("s", several(1), Writing(claim=True))
        for _ in range(20):
            with pytest.raises(SessionOwned):
                await behind.append("s", several(1), Writing(claim=True))
            await asyncio.sleep(0.05)
        ahead.crash()
        async with asyncio.timeout(GUARD):
            while (await behind.lease("s")).alive:  # pyright: ignore[reportOptionalMemberAccess]
                await asyncio.sleep(0.05)
        assert (await behind.append("s", several(1), Writing(claim=True))).epoch == 2
    finally:
        await behind.close()


@pytest.mark.parametrize(
    ("ahead", "said"), [(0, "agrees"), (FIVE_MINUTES, "5 min"), (-2000, "2.0 s")]
)
def test_doctor_warns_of_a_wrong_clock(
    ahead: int, said: str, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SystemClock, "now_ms", lambda self: now_ms(self) + ahead)
    env = {**os.environ, "CALLBOARD_DB": postgres_url}
    _, out, _ = run_here(["doctor"], tmp_path, env)
    [line] = [line for line in out.splitlines() if line[5:].strip().startswith("clock")]
    assert line.startswith("warn" if ahead else "ok")
    assert said in line


def test_a_correction_within_the_bounds_of_a_round_trip_is_kept():
    clock = SystemClock()
    asked = clock.now_ms()
    clock.correct(asked - 1000, asked - 500)
    assert clock.offset_ms == 0
    clock.correct(asked, asked - 2000)
    assert clock.offset_ms == -2000
    clock.correct(asked, asked + 60_000)
    assert abs(clock.now_ms() - (asked + 60_000)) < 1000
