"""`callboard usage` and `callboard budget`, on a real database and on a server."""

import asyncio
import json
from pathlib import Path

from tests.acceptance.cli_process import CallboardCommand

from callboard import Callboard
from callboard.events import usage
from callboard.events.envelope import NewEvent
from callboard.events.payloads.usage import CountedTokens
from callboard.ids import event_id
from callboard.state.usage_rows import HOUR_MS

MILLION = 1_000_000


def tokens(hour: int, model: str, count: int) -> CountedTokens:
    return {
        "hour": hour,
        "model": model,
        "inputTokens": count,
        "outputTokens": count,
        "cacheReadTokens": count,
        "cacheWriteTokens": 0,
        "calls": 3,
    }


def spend(database: Path, *models: str) -> None:
    """Record what an agent used in this hour: a million tokens of each kind, of each model."""

    async def write() -> None:
        async with Callboard.open(database) as board:
            now = board.clock.now_ms()
            folder = "/home/ada/shop"
            plate = await board.plates.register("claude", project_path=folder, session_id="s1")
            totals = [tokens(now // HOUR_MS * HOUR_MS, one, MILLION) for one in models]
            told = usage.COUNTED(
                {"sessionId": "s1", "agent": "claude", "project": folder, "totals": totals}
            )
            event = NewEvent(event_id(), told.name, told.payload, now)
            await board.log.append(plate.plate_id, [event])

    asyncio.run(write())


def test_what_agents_used(callboard: CallboardCommand):
    callboard.here("migrate")
    empty = callboard.here("usage").out.splitlines()
    assert empty[0].startswith("No tokens were used in the last 30 days. Connect coding agents:")

    spend(callboard.folder / "t.db", "claude-sonnet-4-5", "house-model")
    told = callboard.here("usage", "--days", "7").out.splitlines()
    assert told[0].split() == ["day", "tokens", "from", "cache", "output", "calls", "cost"]
    assert told[1].split()[1:6] == ["6M", "2M", "2M", "6", "$18.30+"]
    assert told[2] == "Total in the last 7 days: 6,000,000 tokens in 6 calls, $18.30."
    assert told[3] == "Without a price: 3,000,000 tokens of house-model."
    assert told[4].startswith("Prices of 20")
    assert "from the list that comes with Callboard" in told[4]

    rows = {
        by: callboard.here("usage", "--by", by).out.splitlines()[1].split()
        for by in ("agent", "project", "model", "plate")
    }
    assert rows["agent"][:3] == ["Claude", "Code", "6M"]
    assert rows["project"][0] == "/home/ada/shop"
    assert rows["model"][0] == "claude-sonnet-4-5"
    assert rows["plate"][0] == "shop"
    [report] = callboard.here("usage", "--by", "model", "--json").json
    assert [one["used"]["cost"] for one in report["rows"]] == [18.3, None]
    assert "--by" in callboard.here("usage", "--by", "person", code=2).err


def test_prices_of_ones_own(callboard: CallboardCommand):
    callboard.here("migrate")
    spend(callboard.folder / "t.db", "house-model")
    file = callboard.folder / "own.json"
    price = {"model": "house-*", "input": 0.5, "output": 1}
    file.write_text(json.dumps({"date": "2026-10-01", "models": [price]}), encoding="utf-8")
    told = callboard.here("usage", CALLBOARD_PRICES=str(file)).out
    assert "$2.00" in told
    assert f"Prices of 2026-10-01, from {file}." in told
    file.write_text(json.dumps({"date": "2026-10-01", "models": [{"model": "m"}]}))
    refused = callboard.here("usage", CALLBOARD_PRICES=str(file), code=2)
    assert f"{file} can't be used: models[0].input must be US dollars" in refused.err
    served = callboard.here("serve", "--port", "0", "--prices", str(file), code=2)
    assert "models[0].input" in served.err


def test_a_budget(callboard: CallboardCommand):
    callboard.here("migrate")
    assert callboard.here("budget").out.startswith("There is no budget. Set one: callboard budget")
    assert callboard.here("budget", "--daily", "20").out.splitlines()[0] == "Daily budget: $20.00."
    spend(callboard.folder / "t.db", "claude-opus-4-1")
    shown = callboard.here("budget", "--daily", "30").out.splitlines()
    assert "$91.50 of $30.00, 305%." in shown[1]
    [question] = callboard.here("inbox", "--json").json
    assert shown[2].startswith(f"The budget is spent: callboard inbox {question['id']}")
    assert question["prompt"].splitlines()[2] == "Spent on: shop $91.50."
    callboard.here("answer", question["id"], "Raise today's budget to $60.00")
    assert callboard.here("budget", "--json").json[0]["limit"] == 60
    assert callboard.here("budget", "--off").out.startswith("There is no budget.")
    refused = callboard.here("budget", "--daily", "-3", code=2)
    assert "daily: use an amount above 0" in refused.err
    callboard.here("budget", "--daily", "3", "--off", code=2)
