"""Agents of another machine on the board: a server and a relay in one loop, and real hooks.

The relay is cut off by cancelling it, which leaves what a crash leaves: what is on disk.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.held_hooks import PATIENCE, SESSION, bash, behavior, hook
from tests.relay_world import World, paired, sleeping_agent
from tests.relays import printed

from callboard.errors import ConflictError, Forbidden
from callboard.relay.uplink import RelayRefused


@dataclass(frozen=True)
class Asks:
    """What an agent asks. answer: what a person says. decided: what the hook then prints."""

    type: str
    tool: str
    input: dict[str, Any]
    answer: Any
    decided: dict[str, Any]

    def hook(self, name: str) -> dict[str, Any]:
        return hook(name, tool_name=self.tool, tool_input=self.input)


OPTIONS = [{"label": "SQLite", "description": ""}, {"label": "Postgres", "description": ""}]
QUESTIONS = {
    "questions": [{"question": "Which?", "header": "DB", "options": OPTIONS, "multiSelect": False}]
}
PLAN = {"plan": "1. Mend it."}
YES, NO = {"approved": True}, {"approved": False, "feedback": "tests come first"}
ALLOWED = {"behavior": "allow"}

ASKS = [
    Asks("permission", "Bash", {"command": "rm -r build"}, YES, ALLOWED),
    Asks(
        "question",
        "AskUserQuestion",
        QUESTIONS,
        {"answers": {"Which?": "Postgres"}},
        {**ALLOWED, "updatedInput": {**QUESTIONS, "answers": {"Which?": "Postgres"}}},
    ),
    Asks("plan", "ExitPlanMode", PLAN, YES, {**ALLOWED, "updatedInput": {}}),
    Asks(
        "plan",
        "ExitPlanMode",
        PLAN,
        NO,
        {"behavior": "deny", "message": "tests come first", "interrupt": False},
    ),
]
NAMES = ["permission", "question", "plan", "refused plan"]


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with paired(tmp_path, monkeypatch) as made:
        made.start_relay()
        await made.host(connected=True)
        yield made


@pytest.fixture
async def agent() -> AsyncIterator[int]:
    async with sleeping_agent() as pid:
        yield pid


@pytest.mark.parametrize("asks", ASKS[:3], ids=NAMES[:3])
async def test_it_is_answered_with_a_receipt(world: World, agent: int, asks: Asks):
    held = await world.hook(agent, asks.hook("PermissionRequest"), "--hold")
    asked = await world.question()
    assert asked.type == asks.type
    await world.board.answer(asked.id, asks.answer)
    assert await decided(held) == asks.decided
    await world.report(agent, asks.hook("PostToolUse"))
    found = await world.settled(asked.id)
    assert (found.status, found.receipt) == ("completed", "delivered")
    assert found.response == asks.answer


@pytest.mark.parametrize("asks", ASKS, ids=NAMES)
async def test_an_answer_accepted_during_a_cut_is_delivered_after_it(
    world: World, agent: int, asks: Asks
):
    held = await world.hook(agent, asks.hook("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.cut_relay()
    await world.board.answer(asked.id, asks.answer)
    world.start_relay()
    assert await decided(held) == asks.decided


async def decided(held: asyncio.subprocess.Process) -> Any:
    return (await printed(held))["hookSpecificOutput"]["decision"]


async def test_reports_wait_while_the_server_is_away(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    await world.stop_server()
    await world.report(agent, hook("UserPromptSubmit", prompt="Mend it"))
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    await world.start_server()
    asked = await world.question()
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"
    await world.plate(prompt="Mend it")


async def test_a_dead_agent_closes_its_plate(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle", host_name="ada-mac")
    os.kill(agent, 9)
    assert (await world.plate(status="closed")).ended == "process_exit"


async def test_a_turn_that_ended_without_a_hook(
    world: World, agent: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The client says that it is idle, in a file on its machine. So its dialog is closed, too."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    sessions = tmp_path / "claude" / "sessions"
    sessions.mkdir(parents=True)
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.plate(status="awaiting_approval")
    at = world.clock.now_ms() + 1
    told = {"pid": agent, "sessionId": SESSION, "status": "idle", "statusUpdatedAt": at}
    (sessions / f"{agent}.json").write_text(json.dumps(told), encoding="utf-8")
    plate = await world.plate(status="idle", interrupted=True)
    assert (await world.board.people.get(asked.id)).status == "cancelled"
    assert await printed(held) is None
    (ended,) = [
        one for one in await world.board.plates.events(plate.plate_id) if one.name == "turn_idle"
    ]
    assert ended.payload["seenIn"] == "registry"


async def test_an_unreachable_machine_is_not_guessed_at(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    before = await world.host(connected=True)
    world.stopping_relay.set()
    await world.relaying
    os.kill(agent, 9)
    assert (await world.host(connected=False)).seen_at >= before.seen_at
    await world.plate(status="idle")
    world.start_relay()
    await world.plate(status="closed")


async def test_a_revoked_token_stops_the_relay(world: World, agent: int):
    (token,) = [one for one in await world.board.tokens.list() if one.host]
    assert (token.scope, token.name, token.host) == ("hook", "ada-mac", "machine1")
    await world.board.tokens.revoke(token.id)
    await world.report(agent, hook("SessionStart", source="startup"))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RelayRefused, match="revoked"):
            await asyncio.shield(world.relaying)


async def test_a_removed_machine_stops_and_can_be_paired_again(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.board.hosts.remove("machine1")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RelayRefused, match=r"revoked.*callboard pair"):
            await asyncio.shield(world.relaying)
    assert await world.board.hosts.list() == []
    assert await world.board.plates.all() == []
    assert asked.id not in [one.id for one in await world.board.inbox()]
    assert await printed(held) is None
    await world.pair()
    world.start_relay()
    await world.host(connected=True, name="ada-mac")


async def test_the_servers_own_machine_cannot_be_removed(world: World):
    with pytest.raises(ConflictError, match="own machine"):
        await world.board.hosts.remove(world.board.plates.host().id)


async def test_a_relay_cannot_answer(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    path = f"/interactions/{asked.id}/answer"
    assert (await world.post(path, {"approved": True}, world.token)).status == 403
    assert (await world.board.people.get(asked.id)).status == "pending"
    with pytest.raises(Forbidden):
        await world.board.pairing.exchange("wrong", "machine2", "x", "server01")
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"


async def test_a_token_without_a_machine_is_no_relays(world: World):
    made = await world.board.tokens.create("hooks", "hook")
    reply = await world.post("/relay/commands", {"name": "x"}, made.secret)
    assert reply.status == 403
