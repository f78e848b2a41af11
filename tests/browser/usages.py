"""A month of what agents used, for pages about it."""

import random
from pathlib import Path

from callboard import Callboard
from callboard.events import names, usage
from callboard.events.envelope import NewEvent
from callboard.events.payloads.usage import CountedTokens
from callboard.ids import event_id
from callboard.state.usage_rows import HOUR_MS

_DAY_HOURS = 24
_AGENTS = (
    ("claude", "shop", "claude-sonnet-4-5", 4.0),
    ("claude", "billing", "claude-opus-4-5", 1.5),
    ("codex", "search", "gpt-5.2-codex", 2.5),
    ("gemini", "docs", "gemini-2.5-pro", 1.0),
    ("opencode", "tools", "house-model", 0.5),
)
"""Who works where with what, and how much."""


def _tokens(hour: int, model: str, calls: int, chance: random.Random) -> CountedTokens:
    return {
        "hour": hour,
        "model": model,
        "inputTokens": calls * chance.randrange(500, 2500),
        "outputTokens": calls * chance.randrange(300, 1200),
        "cacheReadTokens": calls * chance.randrange(15_000, 45_000),
        "cacheWriteTokens": calls * chance.randrange(500, 4000),
        "calls": calls,
    }


async def use_for_a_month(database: Path, days: int = 30) -> None:
    """Record what five agents and a workflow used on each working day until now."""
    chance = random.Random(7)
    async with Callboard.open(database) as board:
        now = board.clock.now_ms()
        this_hour = now // HOUR_MS * HOUR_MS
        for agent, project, model, busy in _AGENTS:
            folder = f"/home/ada/{project}"
            plate = await board.plates.register(agent, project_path=folder, session_id=project)
            totals = [
                _tokens(this_hour - day * _DAY_HOURS * HOUR_MS, model, calls, chance)
                for day in range(days)
                if (calls := _calls(day, busy, chance))
            ]
            told = usage.COUNTED(
                {"sessionId": project, "agent": agent, "project": folder, "totals": totals}
            )
            await board.log.append(
                plate.plate_id, [NewEvent(event_id(), told.name, told.payload, now)]
            )
        await spend(board, 3.2)


def _calls(day: int, busy: float, chance: random.Random) -> int:
    rests = day % 7 in (3, 4)
    return 0 if rests and chance.random() < 0.8 else int(busy * chance.randrange(8, 40))


async def spend(board: Callboard, dollars: float, session: str = "nightly-review") -> None:
    """An agent of a workflow reports what it cost."""
    head, now = await board.log.head(session), board.clock.now_ms()
    used = {"inputTokens": 52_000, "outputTokens": 8_400, "requests": 12, "costUsd": dollars}
    done = {"run": "r", "attempt": 1, "output": None, "durationMs": 1, "usage": used}
    started = NewEvent(event_id(), names.STARTED, {"workflow": "review", "state": {}}, now)
    ended = NewEvent(event_id(), names.AGENT_COMPLETED, done, now)
    await board.log.append(session, [ended] if head else [started, ended])
