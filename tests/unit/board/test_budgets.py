"""The daily budget: what people are asked when it is spent, and what their answers do."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from callboard import Callboard
from callboard.board.budget_watch import BudgetWatch
from callboard.board.prices import load_prices
from callboard.board.usage_totals import HourTokens
from callboard.errors import StoreBusy, ValidationError
from callboard.events import names, usage
from callboard.events.envelope import NewEvent
from callboard.interactions.records import Interaction
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.state.statistics import DAY_MS
from callboard.state.usage_rows import HOUR_MS
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
async def board() -> AsyncIterator[Callboard]:
    async with Callboard.open(clock=FakeClock()) as board:
        yield board


async def spend(board: Callboard, dollars: float, workflow: str = "w") -> None:
    """A workflow's agent has reported what it cost."""
    head = await board.log.head(workflow)
    used = {"inputTokens": 5, "costUsd": dollars}
    done = {"run": "r", "attempt": 1, "output": None, "durationMs": 1, "usage": used}
    now = board.clock.now_ms()
    started = NewEvent(f"{workflow}-0", names.STARTED, {"workflow": workflow, "state": {}}, now)
    ended = NewEvent(f"{workflow}-{head + 1}", names.AGENT_COMPLETED, done, now)
    await board.log.append(workflow, [ended] if head else [started, ended])


async def open_questions(board: Callboard) -> list[Interaction]:
    await board.usage.budgets.check()
    return await board.inbox()


async def test_nothing_is_asked_until_it_is_spent(board: Callboard):
    assert await open_questions(board) == []
    await board.usage.set_budget(10.0)
    await spend(board, 9.99)
    assert await open_questions(board) == []
    assert (await board.usage.budget()).interaction_id is None
    await spend(board, 0.01)
    [asked] = await open_questions(board)
    assert asked.prompt.startswith("Agents have spent $10.00 today. ")
    assert "The daily budget is $10.00.\n\nSpent on: workflows $10.00.\n" in asked.prompt
    assert "Nothing was stopped" in asked.prompt
    assert (await board.usage.budget()).interaction_id == asked.id


async def test_it_asks_once_a_day(board: Callboard):
    await board.usage.set_budget(10.0)
    await spend(board, 11.0)
    [asked] = await open_questions(board)
    assert await open_questions(board) == [asked]
    assert asked.options is not None
    await board.answer(asked.id, asked.options[0])
    await spend(board, 100.0)
    assert await open_questions(board) == []
    assert isinstance(board.clock, FakeClock)
    board.clock.skip(DAY_MS / 1000)
    await spend(board, 10.5)
    [again] = await open_questions(board)
    assert (again.id != asked.id, "$10.50" in again.prompt) == (True, True)


async def test_a_budget_that_is_raised_for_today_asks_again_when_that_is_spent(board: Callboard):
    await board.usage.set_budget(10.0)
    await spend(board, 12.0)
    [asked] = await open_questions(board)
    assert asked.options is not None
    assert asked.options[1] == "Raise today's budget to $20.00"
    await board.answer(asked.id, asked.options[1])
    assert await open_questions(board) == []
    found = await board.usage.budget()
    assert (found.daily, found.limit) == (10.0, 20.0)
    await spend(board, 9.0)
    [again] = await open_questions(board)
    assert "The daily budget is $10.00, raised to $20.00 for today." in again.prompt
    assert again.options is not None
    assert again.options[1] == "Raise today's budget to $30.00"


async def test_the_name_of_a_project_stays_in_its_line(board: Callboard):
    plate = await board.plates.register("claude", project_path="/p", session_id="s1")
    hour = board.clock.now_ms() // HOUR_MS * HOUR_MS
    project = "/p/shop\n\nThe budget was raised by an admin." + "y" * 5000
    totals = [HourTokens(hour, "claude-opus-4-5", 10**6, 0, 0, 0, 1).told()]
    told = usage.COUNTED(
        {"sessionId": "s1", "agent": "claude", "project": project, "totals": totals}
    )
    event = NewEvent("u1", told.name, told.payload, board.clock.now_ms())
    await board.log.append(plate.plate_id, [event])
    await board.usage.set_budget(1.0)
    [asked] = await open_questions(board)
    lines = asked.prompt.split("\n\n")
    assert (len(lines), len(lines[1]) < 100) == (3, True)
    assert lines[1].startswith("Spent on: shop")


async def test_amounts_are_exact(board: Callboard):
    await board.usage.set_budget(0.1)
    for limit in ("0.20", "0.30"):
        await spend(board, 0.1)
        [asked] = await open_questions(board)
        await board.answer(asked.id, f"Raise today's budget to ${limit}")
    assert (await board.usage.budget()).limit == 0.3
    await spend(board, 0.1)
    assert len(await open_questions(board)) == 1


async def test_with_wrong_prices_nothing_is_changed(
    board: Callboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await board.usage.set_budget(10.0)
    file = tmp_path / "prices.json"
    file.write_text("{", encoding="utf-8")
    with monkeypatch.context() as wrong:
        wrong.setenv("CALLBOARD_PRICES", str(file))
        with pytest.raises(ValidationError, match="it is not JSON"):
            await board.usage.set_budget(None)
    assert (await board.usage.budget()).daily == 10.0


async def test_questions_that_no_longer_apply_are_withdrawn(board: Callboard):
    await board.usage.set_budget(10.0)
    await spend(board, 12.0)
    [first] = await open_questions(board)
    await board.usage.set_budget(12.5)
    assert await open_questions(board) == []
    assert (await board.interaction(first.id)).status == "cancelled"
    await board.usage.set_budget(11.0)
    [second] = await open_questions(board)
    assert isinstance(board.clock, FakeClock)
    board.clock.skip(DAY_MS / 1000)
    assert await open_questions(board) == []
    assert (await board.interaction(second.id)).status == "cancelled"
    await spend(board, 12.0)
    [third] = await open_questions(board)
    await board.usage.set_budget(None)
    assert (await board.interaction(third.id)).status == "cancelled"
    assert (await board.usage.budget()).limit is None


async def test_a_question_that_only_looks_like_it_is_left_alone(board: Callboard):
    prompt = "Agents have spent a day on this. Continue?"
    asked = [
        await board.people.ask(
            type="choice", prompt=prompt, options=["yes"], config={"budget": {"key": key}}
        )
        for key in ("budget:2020-01-01:1:0", 5)
    ]
    await board.usage.set_budget(1.0)
    left = await open_questions(board)
    assert {one.id for one in left} == {one.id for one in asked}


async def test_several_servers_ask_once():
    clock = FakeClock()
    log = MemoryLog(project, clock)
    one, other = Callboard(log, clock=clock), Callboard(log, clock=clock)
    await one.usage.set_budget(1.0)
    await spend(one, 2.0)
    await asyncio.gather(one.usage.budgets.check(), other.usage.budgets.check())
    assert len(await other.inbox()) == 1


async def test_the_day_is_that_of_the_time_zone_in_which_it_was_set(board: Callboard):
    assert isinstance(board.clock, FakeClock)
    into_day = board.clock.now_ms() % DAY_MS
    board.clock.skip((DAY_MS - into_day) / 1000 - 3600)  # 23:00 in UTC.
    await spend(board, 5.0)
    await board.usage.set_budget(10.0, utc_offset=-300)
    today = (await board.usage.budget()).day
    board.clock.skip(2 * 3600)
    found = await board.usage.budget()
    assert (found.day, found.spent, found.utc_offset) == (today, 5.0, -300)
    board.clock.skip(5 * 3600)
    assert (await board.usage.budget()).spent == 0.0


@pytest.mark.parametrize("daily", [0, -1, 10**7, float("nan")])
async def test_a_budget_that_is_refused(board: Callboard, daily: float):
    with pytest.raises(ValidationError) as refused:
        await board.usage.set_budget(daily)
    assert refused.value.field == "daily"


async def test_a_time_zone_that_is_refused(board: Callboard):
    with pytest.raises(ValidationError) as refused:
        await board.usage.set_budget(1.0, utc_offset=10_000)
    assert refused.value.field == "utc_offset"


# ---------------------------------------------------------------------- the watch


async def until(clock: FakeClock, true: Callable[[], Awaitable[bool]]) -> None:
    for _ in range(1000):
        if await true():
            return
        await clock.advance(1.0)
        await asyncio.sleep(0.005)  # A question is checked in a thread, which the clock can't see.
    raise AssertionError("It did not happen.")


async def test_what_a_killed_server_did_not_ask_is_asked_at_the_next_start():
    clock = FakeClock()
    log = MemoryLog(project, clock)
    board = Callboard(log, clock=clock)
    await board.usage.set_budget(1.0)
    await spend(board, 2.0)
    watch = BudgetWatch(log, board.usage.budgets.check, clock)
    watch.start()

    async def is_asked() -> bool:
        return len(await board.inbox()) == 1

    await until(clock, is_asked)
    await watch.close()


async def test_what_is_spent_in_a_workflow_is_noticed():
    clock = FakeClock()
    log = MemoryLog(project, clock)
    board = Callboard(log, clock=clock)
    await board.usage.set_budget(1.0)
    watch = BudgetWatch(log, board.usage.budgets.check, clock)
    watch.start()
    await clock.advance(10.0)
    await spend(board, 2.0)

    async def is_asked() -> bool:
        return len(await board.inbox()) == 1

    await until(clock, is_asked)
    await watch.close()


async def test_a_check_that_fails_is_made_again_and_wrong_prices_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    clock = FakeClock()
    log = MemoryLog(project, clock)
    file = tmp_path / "prices.json"
    file.write_text("{", encoding="utf-8")
    tries = list[int]()

    async def check() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise StoreBusy("not now")
        load_prices(file)

    watch = BudgetWatch(log, check, clock)
    watch.start()

    async def has_tried() -> bool:
        return len(tries) >= 2

    await until(clock, has_tried)
    assert "The budget can't be checked: prices:" in caplog.text
    file.write_text(json.dumps({"date": "2026-01-31", "models": []}), encoding="utf-8")
    await watch.close()


async def test_days_follow_summer_time(board: Callboard):
    assert isinstance(board.clock, FakeClock)
    found = await board.usage.set_budget(1.0, utc_offset=60, time_zone="Europe/Berlin")
    assert found.time_zone == "Europe/Berlin"
    offsets = {(await board.usage.budget()).utc_offset}
    board.clock.skip(182 * DAY_MS / 1000)
    offsets.add((await board.usage.budget()).utc_offset)
    assert offsets == {60, 120}


async def test_a_time_zone_that_this_machine_does_not_know(board: Callboard):
    found = await board.usage.set_budget(1.0, utc_offset=90, time_zone="Mars/Olympus")
    assert (found.utc_offset, found.time_zone) == (90, "Mars/Olympus")


@pytest.mark.parametrize("name", ["", "../etc/passwd", "/etc/localtime", "a b", "a" * 65, "a/"])
async def test_what_is_no_time_zone(board: Callboard, name: str):
    with pytest.raises(ValidationError, match="time_zone"):
        await board.usage.set_budget(1.0, time_zone=name)
