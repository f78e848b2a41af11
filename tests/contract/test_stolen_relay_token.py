"""Someone has the token of a machine's relay, and nothing else of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.held_hooks import PATIENCE, bash, behavior
from tests.relay_world import World, paired, sleeping_agent, until
from tests.relays import printed

from callboard.relay.batches import HOOK, INCARNATION, RECEIPT, SECRET, RelayItem, packed
from callboard.relay.http import HttpConnection, ServerUrl
from callboard.relay.uplink import RelayRefused


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with paired(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
async def agent() -> AsyncIterator[int]:
    async with sleeping_agent() as pid:
        yield pid


async def connected(world: World) -> None:
    world.start_relay()
    await world.host(connected=True)

    async def is_served() -> bool | None:
        return "machine1" in world.board.hosts.requests.served or None

    await until(is_served)


async def take_commands(world: World, secret: str = "") -> int:
    """Ask for the machine's commands; returns the status."""
    given = {"name": "ada-mac", "secret": secret}
    return (await world.post("/relay/commands", given, world.token)).status


async def send(world: World, items: list[RelayItem], **headers: str) -> int:
    """Send reports in the machine's name; returns the status."""
    connection = HttpConnection(ServerUrl.parse(f"http://127.0.0.1:{world.port}"), world.token)
    try:
        told = {INCARNATION: "thief0001", **headers}
        return (await connection.post("/relay/reports", packed(items), told)).status
    finally:
        connection.close()


def refusals(world: World) -> list[tuple[Any, Any]]:
    lines = (world.folder / "t.db.audit.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    return [(one["who"], one["path"]) for one in told if one["status"] == 401]


async def test_decisions_reach_only_the_machine(world: World, agent: int):
    await connected(world)
    for secret in ("", "x", "x" * 200):
        assert await take_commands(world, secret) == 401
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.board.answer(asked.id, approved=True)
    assert behavior(await printed(held)) == "allow"
    assert (await world.host(connected=True)).contested_at is not None
    assert refusals(world) == [("ada-mac", "/relay/commands")] * 3


async def test_nothing_can_be_reported_or_forged(world: World, agent: int):
    await connected(world)
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    receipt = json.dumps({"command": "decide", "hold": asked.id, "result": "handed"})
    items = [
        RelayItem(1, RECEIPT, receipt.encode(), 1),
        RelayItem(2, HOOK, b'{"session_id":"s9","hook_event_name":"SessionStart"}', 1, "claude"),
    ]
    assert await send(world, items) == 401
    assert await send(world, items, **{SECRET: "guess"}) == 401
    assert len(await world.board.plates.all()) == 1
    assert (await world.board.people.get(asked.id)).receipt is None
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"
    assert refusals(world) == [("ada-mac", "/relay/reports")] * 2


async def test_not_even_while_the_machine_is_off(world: World):
    await connected(world)
    world.stopping_relay.set()
    await world.relaying
    await world.host(connected=False)
    assert await take_commands(world) == 401
    found = await world.host(connected=False)
    assert found.contested_at is not None
    await connected(world)
    assert (await world.host(connected=True)).contested_at == found.contested_at


async def test_the_machine_keeps_its_secret(world: World):
    for _ in range(3):
        await connected(world)
        await world.cut_relay()
    assert (await world.host()).contested_at is None
    assert (world.folder / "relay" / "relay.json.secret").stat().st_mode & 0o777 == 0o600


async def test_a_thief_who_is_first_is_noticed(world: World):
    """The token was stolen before the machine ever connected."""
    taking = asyncio.create_task(take_commands(world, "thief"))
    await world.host(connected=True)
    world.start_relay()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RelayRefused, match="callboard token revoke"):
            await asyncio.shield(world.relaying)
    assert (await world.host()).contested_at is not None
    taking.cancel()


async def test_a_machine_that_is_paired_again_has_a_new_secret(world: World):
    await connected(world)
    (token,) = [one for one in await world.board.tokens.list() if one.host]
    await world.board.tokens.revoke(token.id)
    await world.cut_relay()
    await world.host(connected=False)
    (world.folder / "relay" / "relay.json.secret").unlink()
    await world.pair()
    await connected(world)
    assert await take_commands(world) == 401
