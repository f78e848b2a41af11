"""Reports on what agents have used, prices, and the budget."""

import json
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard
from callboard.board.prices import PriceList, load_prices
from callboard.board.usage_reports import UsageGroup
from callboard.board.usage_totals import HourTokens
from callboard.errors import ValidationError
from callboard.events import names, usage
from callboard.events.envelope import NewEvent
from callboard.state.statistics import DAY_MS
from callboard.state.usage_rows import HOUR_MS
from callboard.testing.fake_clock import FakeClock

PRICES = {
    "date": "2026-01-31",
    "models": [
        {"model": "opus-*", "input": 10, "output": 100, "cacheRead": 1, "cacheWrite": 20},
        {"model": "plain", "input": 2, "output": 4},
    ],
}


@pytest.fixture
def prices(tmp_path: Path) -> PriceList:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    return load_prices(file)


@pytest.fixture
async def board(prices: PriceList):
    async with Callboard.open(clock=FakeClock()) as board:
        board.prices = lambda: prices
        yield board


def tokens(model: str, count: int, hour: int = 0, cost: float | None = None) -> dict[str, Any]:
    return HourTokens(hour, model, count, count, count, count, 1, cost).told()  # pyright: ignore


async def counted(
    board: Callboard, *totals: dict[str, Any], session: str = "s1", project: str = "/home/me/shop"
) -> str:
    """A plate in this project, whose session has used this so far."""
    plate = await board.plates.register("claude", project_path=project, session_id=session)
    told = {"sessionId": session, "agent": "claude", "project": project, "totals": [*totals]}
    event = NewEvent(f"{session}-{len(totals)}-{id(told)}", usage.COUNTED, told, 0)
    await board.log.append(plate.plate_id, [event])
    return plate.plate_id


def today(board: Callboard) -> int:
    return board.clock.now_ms() // DAY_MS * DAY_MS


async def test_tokens_and_money_by_model(board: Callboard):
    day = today(board)
    await counted(board, tokens("opus-4", 1_000_000, day), tokens("other", 5, day))
    report = await board.usage.report(by="model")
    found = {one.key: (one.used.cost, one.used.unpriced_tokens) for one in report.rows}
    assert found == {"opus-4": (131.0, 0), "other": (None, 20)}
    assert (report.total.cost, report.total.unpriced_tokens) == (131.0, 20)
    assert (report.prices_date, report.prices_source.endswith("prices.json")) == (
        "2026-01-31",
        True,
    )


async def test_later_totals_replace_earlier_ones(board: Callboard):
    day = today(board)
    for count in (5, 7, 7):
        await counted(board, tokens("plain", count, day))
    report = await board.usage.report()
    assert (report.total.input_tokens, report.total.calls) == (7, 1)


async def test_a_cost_that_the_client_says_counts_instead_of_a_price(board: Callboard):
    await counted(board, tokens("plain", 1_000_000, today(board), cost=0.25))
    assert (await board.usage.report()).total.cost == 0.25


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("project", ["/home/me/shop", "/home/me/blog"]),
        ("plate", ["shop", "blog"]),
        ("model", ["plain"]),
        ("workflow", []),
    ],
)
async def test_groups(board: Callboard, by: UsageGroup, keys: list[str]):
    day = today(board)
    await counted(board, tokens("plain", 9, day))
    await counted(board, tokens("plain", 5, day), session="s2", project="/home/me/blog")
    report = await board.usage.report(by=by)
    assert [one.label for one in report.rows] == keys


async def test_days_without_use_are_there(board: Callboard):
    day = today(board)
    old, older = tokens("plain", 5, day - 2 * DAY_MS), tokens("plain", 5, day - 3 * DAY_MS)
    await counted(board, tokens("plain", 9, day), old, older)
    report = await board.usage.report(days=3)
    assert [one.used.input_tokens for one in report.rows] == [5, 0, 9]
    assert [one.used.cost is None for one in report.rows] == [False, True, False]


@pytest.mark.parametrize("wrong", [{"days": 0}, {"days": 366}, {"by": "person"}])
async def test_what_cannot_be_reported(board: Callboard, wrong: Any):
    with pytest.raises(ValidationError) as refused:
        await board.usage.report(**wrong)
    assert refused.value.field in wrong


# ---------------------------------------------------------------------- workflows


async def test_what_agents_of_workflows_use_counts_under_their_workflow(board: Callboard):
    started = {"workflow": "review", "state": {}, "input": {}}
    used = {"inputTokens": 5, "outputTokens": 2, "costUsd": 0.5, "turns": 3}
    done = {"run": "r", "attempt": 1, "output": None, "durationMs": 1, "usage": used}
    now = board.clock.now_ms()
    events = [
        NewEvent("e1", names.STARTED, started, now),
        NewEvent("e2", names.AGENT_COMPLETED, done, now),
    ]
    await board.log.append("w1", events)
    [row] = (await board.usage.report(by="workflow")).rows
    assert (row.label, row.used.cost, row.used.input_tokens) == ("review", 0.5, 5)
    assert row.used.calls == 3


async def test_days_are_those_of_the_callers_time_zone(board: Callboard):
    day = today(board)
    await counted(board, tokens("plain", 5, day - 2 * HOUR_MS), tokens("plain", 9, day + HOUR_MS))
    found = dict[int, list[int]]()
    for offset in (0, 180):
        rows = (await board.usage.report(days=2, utc_offset=offset)).rows
        found[offset] = [one.used.input_tokens for one in rows]
    assert found == {0: [5, 9], 180: [0, 14]}


async def test_rows_are_split(board: Callboard):
    day = today(board)
    await counted(board, tokens("plain", 9, day), tokens("opus-4", 5, day), tokens("new", 1, day))
    report = await board.usage.report(by="agent", split="model")
    [row] = report.rows
    assert (row.key, row.label) == ("claude", "Claude Code")
    assert [one.key for one in row.parts] == ["opus-4", "plain", "new"]
    assert report.unpriced_models == ["new"]
    with pytest.raises(ValidationError) as refused:
        await board.usage.report(split="plate")  # pyright: ignore[reportArgumentType]
    assert refused.value.field == "split"


async def test_a_report_on_one_plate(board: Callboard):
    day = today(board)
    plate = await counted(board, tokens("plain", 9, day))
    await counted(board, tokens("plain", 5, day), session="s2", project="/home/me/blog")
    report = await board.usage.report(by="model", stream=plate)
    assert [one.used.input_tokens for one in report.rows] == [9]
    assert (await board.usage.report(stream="none")).total.calls == 0


async def test_what_is_cached_for_an_hour_has_its_own_price(board: Callboard, tmp_path: Path):
    file = tmp_path / "own.json"
    price = {"model": "m", "input": 1, "output": 1, "cacheWrite": 2, "longCacheWrite": 4}
    file.write_text(json.dumps({"date": "2026-01-31", "models": [price]}), encoding="utf-8")
    board.prices = lambda: load_prices(file)
    used = HourTokens(today(board), "m", 0, 0, 0, 1_000_000, 1, None, 250_000)
    await counted(board, dict(used.told()))
    assert (await board.usage.report()).total.cost == 0.75 * 2 + 0.25 * 4
