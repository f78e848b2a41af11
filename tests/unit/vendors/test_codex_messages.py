"""What Codex's app server shows of a message, and when it counts as lost.

Its items and its record can come late: after the turn is called completed.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.vendors.codex import app_server_way
from callboard.vendors.codex.app_server_way import AppServerWay
from callboard.vendors.steering import Outgoing, Recipient

MESSAGE = Outgoing("m1", "Use the other table.", "now")


class Codex:
    """An app server with one session: its last turn, and what is known of that."""

    def __init__(self) -> None:
        self.turn: dict[str, Any] = {"id": "t0", "status": "completed"}
        self.has_turns = True
        self.items: list[dict[str, Any]] = []
        self.given = 0

    async def call(self, name: str, params: Any) -> Any:
        match name:
            case "thread/read":
                is_idle = self.turn["status"] != "inProgress"
                return {"thread": {"status": {"type": "idle" if is_idle else "active"}}}
            case "turn/start":
                self.given += 1
                self.turn = {"id": "t1", "status": "inProgress"}
                return {"turn": self.turn}
            case "thread/turns/list":
                return {"data": [self.turn] if self.has_turns else []}
            case "thread/items/list":
                return {"data": [{"item": one} for one in self.items]}
            case _:
                raise AssertionError(name)


@pytest.fixture
def codex(monkeypatch: pytest.MonkeyPatch) -> Codex:
    server = Codex()

    @asynccontextmanager
    async def calls(socket: Path | None) -> AsyncGenerator[Codex]:
        yield server

    monkeypatch.setattr(app_server_way, "app_server_calls", calls)
    return server


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test changes."""
    time = [100.0]
    monkeypatch.setattr(app_server_way.time, "monotonic", lambda: time[0])
    return time


@pytest.fixture
def there(tmp_path: Path) -> Recipient:
    record = tmp_path / "rollout.jsonl"
    record.write_text('{"type": "session_meta"}\n')
    return Recipient("codex", "t", "/p", None, None, str(record))


async def given(way: AppServerWay, there: Recipient) -> None:
    assert (await way.say(there, MESSAGE)).result == "accepted"


async def test_a_turn_that_is_completed_has_what_started_it(
    codex: Codex, now: list[float], there: Recipient
):
    way = AppServerWay()
    await given(way, there)
    codex.turn["status"] = "completed"
    for _ in range(3):
        assert (await way.look(there, MESSAGE)).status is None
        now[0] += app_server_way.MISSED_FOR


@pytest.mark.parametrize("status", ["interrupted", "failed"])
async def test_what_a_turn_that_ended_early_left_unread_is_lost(
    codex: Codex, now: list[float], there: Recipient, status: str
):
    way = AppServerWay()
    await given(way, there)
    codex.turn["status"] = status
    assert (await way.look(there, MESSAGE)).status is None
    now[0] += app_server_way.MISSED_FOR
    assert (await way.look(there, MESSAGE)).status == "untouched"


async def test_an_item_that_comes_late_is_none_that_was_lost(
    codex: Codex, now: list[float], there: Recipient
):
    way = AppServerWay()
    await given(way, there)
    codex.turn["status"] = "interrupted"
    assert (await way.look(there, MESSAGE)).status is None
    now[0] += app_server_way.MISSED_FOR
    codex.items = [{"type": "userMessage", "clientId": "m1"}]
    assert (await way.look(there, MESSAGE)).status is None


@pytest.mark.parametrize("has_turns", [True, False])
async def test_without_the_turn_that_it_was_given_to_only_one_that_ended_early_lost_it(
    codex: Codex, now: list[float], there: Recipient, has_turns: bool
):
    """Codex didn't say which turn it is, or another process was told."""
    way = AppServerWay()
    codex.has_turns = has_turns
    for _ in range(3):
        assert (await way.look(there, MESSAGE)).status is None
        now[0] += app_server_way.MISSED_FOR
    codex.has_turns, codex.turn["status"] = True, "interrupted"
    assert (await way.look(there, MESSAGE)).status is None
    now[0] += app_server_way.MISSED_FOR
    assert (await way.look(there, MESSAGE)).status == "untouched"
