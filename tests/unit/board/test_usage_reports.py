"""Reports on what agents have used, prices, and the budget."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard import Callboard
from callboard.board.prices import PriceList, load_prices
from callboard.board.usage_recording import UsageRecorder
from callboard.board.usage_reports import UsageGroup
from callboard.board.usage_totals import DayTokens, SessionTokens
from callboard.clock import SystemClock
from callboard.errors import ValidationError
from callboard.events import names, usage
from callboard.events.envelope import NewEvent
from callboard.events.json_values import as_list
from callboard.state.usage_rows import DAY_MS
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
        board.usage.prices = lambda: prices
        yield board


def tokens(model: str, count: int, day: int = 0, cost: float | None = None) -> dict[str, Any]:
    return DayTokens(day, model, count, count, count, count, 1, cost).told()  # pyright: ignore


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


# ---------------------------------------------------------------------- the budget


async def test_a_budget_asks_once_a_day_and_amount(board: Callboard):
    day = today(board)
    await board.usage.set_budget(1.0)
    await counted(board, tokens("opus-4", 5000, day))
    await board.usage.check_budget()
    assert await board.inbox() == []
    await counted(board, tokens("opus-4", 50_000, day))
    for _ in range(2):
        await board.usage.check_budget()
    [asked] = await board.inbox()
    assert "$6.55" in asked.prompt
    assert "stops nothing" in asked.prompt
    await board.answer(asked.id, "Let them continue")
    await board.usage.check_budget()
    assert await board.inbox() == []
    raised = await board.usage.set_budget(5.0, by="ada")
    assert (raised.daily, raised.spent) == (5.0, 6.55)
    assert len(await board.inbox()) == 1
    await board.usage.set_budget(None)
    assert (await board.usage.budget()).daily is None


@pytest.mark.parametrize("daily", [0, -1, 10**7, float("nan")])
async def test_a_budget_that_is_refused(board: Callboard, daily: float):
    with pytest.raises(ValidationError) as refused:
        await board.usage.set_budget(daily)
    assert refused.value.field == "daily"


# ---------------------------------------------------------------------- prices


def test_the_prices_that_come_with_callboard():
    shipped = load_prices()
    assert shipped.source == ""
    assert shipped.date
    assert shipped.of("claude-sonnet-4-5-20250929") is not None
    assert shipped.of("anthropic/claude-sonnet-4-5") is not None
    assert shipped.of("model-of-tomorrow") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is not JSON"),
        ("{}", "models must be a list"),
        ('{"models": [{}]}', r"models\[0\].model must be a name"),
        ('{"models": [{"model": "m", "input": "1"}]}', r"models\[0\].input must be US dollars"),
        ('{"models": [{"model": "m", "input": 1}]}', r"models\[0\].output must be US dollars"),
        ('{"models": [{"model": "m", "input": 1, "output": -1}]}', "output must be US dollars"),
    ],
)
def test_prices_that_are_wrong(tmp_path: Path, text: str, says: str):
    file = tmp_path / "prices.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError, match=says) as refused:
        load_prices(file)
    assert refused.value.field == "prices"


def test_prices_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "callboard" / "prices.json"
    file.parent.mkdir()
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_prices().source == str(file)
    monkeypatch.setenv("CALLBOARD_PRICES", str(tmp_path / "none.json"))
    with pytest.raises(ValidationError, match="No such file"):
        load_prices()


# ---------------------------------------------------------------------- recording


class _Transcripts:
    """What a machine counts, as a test says."""

    def __init__(self) -> None:
        self.told: list[SessionTokens] = []

    async def usage(self, plate_id: str) -> SessionTokens:
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


async def test_only_what_is_new_is_recorded():
    board, transcripts, heard = Board(), _Transcripts(), list[int]()

    async def recorded() -> None:
        heard.append(1)

    plate = await board.plates.register("claude", project_path="/p", session_id="s1")
    clock = SystemClock()
    recorder = UsageRecorder(board.log, board.plates, transcripts.usage, clock, recorded)
    one = DayTokens(DAY_MS, "opus", 1, 2, 3, 4, 1)
    two = DayTokens(0, "other", 1, 2, 3, 4, 1, 0.5)
    transcripts.told = [SessionTokens([one], whole=True)]
    for _ in range(2):
        await recorder.count(plate.plate_id)
    transcripts.told = [SessionTokens([], whole=False), SessionTokens([one, two], whole=True)]
    for _ in range(2):
        await recorder.count(plate.plate_id)
    told = [event for event in await board.events(plate) if event.name == usage.COUNTED]
    assert [len(as_list(event.payload["totals"])) for event in told] == [1, 1]
    assert len(heard) == 2
