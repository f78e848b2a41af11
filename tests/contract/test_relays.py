"""Agents of another machine on the board: a server and a relay in one loop, and real hooks.

The relay is cut off by cancelling it, which leaves what a crash leaves: what is on disk.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.held_hooks import PATIENCE, bash, behavior, hook
from tests.relay_world import World, paired, sleeping_agent, until
from tests.relays import printed

from callboard.errors import ConflictError, Forbidden
from callboard.interactions.records import Interaction
from callboard.relay.uplink import RelayRefused


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


async def test_a_permission_is_answered_with_a_receipt(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.board.answer(asked.id, approved=True)
    assert behavior(await printed(held)) == "allow"
    await world.report(agent, bash("PostToolUse"))

    async def closed() -> Interaction | None:
        found = await world.board.people.get(asked.id)
        return None if found.status == "pending" else found

    found = await until(closed)
    assert (found.status, found.receipt) == ("completed", "delivered")


async def test_an_answer_accepted_during_a_cut_is_delivered_after_it(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.cut_relay()
    await world.board.answer(asked.id, approved=True)
    world.start_relay()
    assert behavior(await printed(held)) == "allow"


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
