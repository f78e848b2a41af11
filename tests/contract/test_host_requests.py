"""Commands to a machine and their results: through a relay, another server, or none."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.relay_world import ADMIN, World, paired, until

from callboard.board.hosts import local_host
from callboard.client.client import Client
from callboard.errors import (
    CallboardError,
    HostFailed,
    HostTimedOut,
    HostUnreachable,
    NotFound,
    PowerNotGranted,
)

MACHINE = "machine1"


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with paired(tmp_path, monkeypatch) as made:
        made.start_relay()
        await made.host(connected=True)
        yield made


async def cut(world: World) -> None:
    """Cut the relay off, and wait until its server has noticed."""
    await world.cut_relay()

    async def noticed() -> bool | None:
        return MACHINE not in world.board.hosts.requests.served or None

    await until(noticed)


def audit(world: World) -> list[dict[str, Any]]:
    lines = (world.folder / "t.db.audit.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


async def test_a_machine_says_how_it_is(world: World):
    installed = world.folder / "relay" / "hooks" / "installed"
    installed.mkdir()
    (installed / "x.json").write_text('{"agent": "claude"}')
    found = await world.board.hosts.check(MACHINE)
    assert (found.version, found.agents) == ("0.1.0", ["claude"])
    assert (found.waiting, found.spooled) == (0, 0)
    assert abs(found.clock_ahead_ms) <= found.took_ms + 1


async def test_it_is_asked_over_http_and_that_is_audited(world: World):
    made = await world.board.tokens.create("ada", "operate")
    async with Client(f"http://127.0.0.1:{world.port}", made.secret) as client:
        assert (await client.hosts.check(MACHINE)).version == "0.1.0"
    assert audit(world)[-1]["who"] == "ada"
    assert audit(world)[-1]["path"] == f"/hosts/{MACHINE}/check"


@pytest.mark.parametrize("scope", ["hook", "read", "answer"])
async def test_asking_needs_operate(world: World, scope: Any):
    made = await world.board.tokens.create("bob", scope)
    for what in ("check", "log"):
        reply = await world.post(f"/hosts/{MACHINE}/{what}", {}, made.secret)
        assert reply.status == 403
        assert audit(world)[-1]["who"] == "bob"
    assert (await world.post(f"/hosts/{MACHINE}/check", {}, world.token)).status == 403


async def test_a_power_is_needed_and_granted_on_the_machine(
    world: World, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "callboard")
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        with pytest.raises(PowerNotGranted, match="callboard relay --allow read") as refused:
            await client.hosts.log(MACHINE)
        assert refused.value.power == "read"
        assert (await world.host(connected=True)).powers == []
        await world.cut_relay()
        world.start_relay("read")
        await world.host(connected=True, powers=["read"])
        lines = await client.hosts.log(MACHINE, 5)
    assert any("Reporting to" in line for line in lines.lines)


async def test_a_machine_that_is_away_is_not_asked(world: World):
    world.stopping_relay.set()
    await world.relaying
    await world.host(connected=False)
    with pytest.raises(HostUnreachable, match="Nothing was done"):
        await world.board.hosts.check(MACHINE)
    with pytest.raises(NotFound):
        await world.board.hosts.check("unknown1")


async def test_a_cut_does_not_lose_a_command(world: World):
    await cut(world)
    asked = asyncio.create_task(world.board.hosts.check(MACHINE))
    await asyncio.sleep(0.1)
    world.start_relay()
    assert (await asked).version == "0.1.0"


async def test_it_is_known_whether_anything_was_done(world: World):
    await cut(world)
    with pytest.raises(HostUnreachable, match="Nothing was done"):
        await world.board.hosts.ask(MACHINE, "check", {}, within=0.2)
    opened = asyncio.create_task(world.idle_relay())
    await asyncio.sleep(0.2)  # A relay that takes commands and does nothing.
    with pytest.raises(HostTimedOut, match="may have done it"):
        await world.board.hosts.ask(MACHINE, "check", {}, within=0.2)
    opened.cancel()


async def test_an_unknown_command_is_refused(world: World):
    with pytest.raises(HostFailed, match="doesn't know 'dance'"):
        await world.board.hosts.ask(MACHINE, "dance", {})


async def test_the_servers_own_machine_is_asked_in_the_same_way(world: World):
    own = local_host().id
    assert (await world.board.hosts.check(own)).waiting == 0
    await world.board.hosts.log(own)
    async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
        assert (await client.hosts.check(own)).id == own
    made = await world.board.tokens.create("bob", "answer")
    assert (await world.post(f"/hosts/{own}/check", {}, made.secret)).status == 403
    assert [one.id for one in await world.board.hosts.list()] == [MACHINE]


async def test_a_machine_cannot_answer_for_another(world: World):
    """Its token is stolen, and it knows the id of a command to someone else's machine."""
    await cut(world)
    asked = asyncio.create_task(world.board.hosts.ask(MACHINE, "check", {}, within=0.5))
    await asyncio.sleep(0.1)
    (id,) = world.board.hosts.requests._waiting
    told = {"id": id, "result": "done", "value": {"version": "forged"}}
    await world.board.hosts.requests.answered("machine2", told)
    with pytest.raises(CallboardError):
        await asked


@pytest.mark.parametrize(
    "result",
    [
        {"result": "done"},
        {"result": "done", "value": 7},
        {"result": "done", "value": {"nowMs": 10**400, "version": "\ud800", "waiting": True}},
        {"result": "done", "value": {"agents": ["x" * 10**6, 7, None] * 100, "spooled": "3"}},
        {"result": "failed", "message": "\ud800" + "x" * 10**6},
        {"result": "refused", "code": "POWER_NOT_GRANTED", "power": "a b; rm", "granted": [{}]},
        {"result": "refused", "code": ["x"]},
        {"result": None},
        {},
    ],
)
async def test_a_machine_may_answer_anything(world: World, result: dict[str, Any]):
    await cut(world)
    taking = asyncio.create_task(world.idle_relay())
    requests = world.board.hosts.requests
    await until(lambda: _is(MACHINE in requests.served))
    path = f"/hosts/{MACHINE}/check"
    asked = asyncio.create_task(world.post(path, {}, ADMIN))
    await until(lambda: _is(bool(requests._waiting)))
    (id,) = requests._waiting
    await requests.answered(MACHINE, {"id": id, **result})
    reply = await asked
    assert reply.status in (200, 403, 502)
    assert len(reply.body) < 25_000
    assert b"rm" not in reply.body
    taking.cancel()


async def _is(met: bool) -> bool | None:
    return met or None


async def test_results_no_one_waits_for_are_dropped(world: World):
    before = await world.board.log.last_sequence()
    for told in ({}, {"id": "x", "result": "done"}, {"id": 7}, {"result": "done", "id": "q1"}):
        await world.board.hosts.requests.answered(MACHINE, told)
    assert await world.board.log.last_sequence() == before
