"""Two servers of one log: it doesn't matter which one is asked, and which one gets the result."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.relay_world import ADMIN, World, paired, until
from tests.terminals import OwnTerminals, is_gone

from callboard.app import Callboard
from callboard.board import host_requests
from callboard.board.hosts import local_host
from callboard.client.client import Client
from callboard.errors import HostTimedOut, HostUnreachable, PowerNotGranted
from callboard.events import plates as events

MACHINE = "machine1"


@dataclass
class Servers:
    """Two servers. The relay is connected to the first."""

    first: World
    second: World

    async def recorded(self, name: str) -> list[dict[str, Any]]:
        """The events of this name in the machine's stream."""
        found = await self.first.board.log.read(f"host-{MACHINE}")
        return [dict(one.payload) for one in found if one.name == name]


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnTerminals]:
    made = OwnTerminals.made_in(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(made.folder))
    program = made.program("claude", "#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setenv("PATH", f"{program}:{os.environ['PATH']}")
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(made.folder)


@pytest.fixture(params=["sqlite", "postgres"])
async def servers(
    request: pytest.FixtureRequest,
    terminals: OwnTerminals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Servers]:
    database = ""
    if request.param == "postgres":
        database = request.getfixturevalue("postgres_url")
    async with paired(tmp_path, monkeypatch, database) as first:
        second = World(tmp_path, database=database)
        await second.start_server()
        try:
            first.start_relay("read")
            await first.host(connected=True)
            yield Servers(first, second)
        finally:
            first.stopping_relay.set()
            await second.stop_server()


async def test_either_server_can_be_asked(servers: Servers):
    for world in (servers.first, servers.second):
        async with Client(f"http://127.0.0.1:{world.port}", ADMIN) as client:
            assert (await client.hosts.check(MACHINE)).version == "0.1.0"


async def test_what_changes_something_is_recorded(servers: Servers):
    recipient = {"recipient": {"agent": "none", "sessionId": "s", "folder": "/"}}
    await servers.first.cut_relay()
    servers.first.start_relay("say")
    await servers.second.host(connected=True, powers=["say"])
    asked = servers.second.board.hosts.ask(MACHINE, "interrupt", recipient, by="ada")
    assert (await asked)["told"] is False
    assert [one["by"] for one in await servers.recorded(events.HOST_ASKED)] == ["ada"]
    assert [one["result"] for one in await servers.recorded(events.HOST_ANSWERED)] == ["done"]


async def test_what_only_reads_is_not_recorded_again_and_again(servers: Servers):
    for _ in range(5):
        await servers.second.board.hosts.check(MACHINE)
    assert len(await servers.recorded(events.HOST_ASKED)) == 1  # The first one tells it to look.
    assert await servers.recorded(events.HOST_ANSWERED) == []


async def test_a_server_that_stopped_looking_is_asked_with_an_event(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(host_requests, "_TAKEN_WITHIN", 0.1)
    state = servers.first.board.log.server_state
    await state.add("host watched", MACHINE, "", 60)  # Another one that was killed said so.
    await servers.second.board.hosts.check(MACHINE)
    assert len(await servers.recorded(events.HOST_ASKED)) == 1


async def test_a_program_with_the_log_can_ask(servers: Servers):
    board = Callboard.open(servers.first.database or servers.first.folder / "t.db")
    try:
        assert (await board.hosts.check(MACHINE)).version == "0.1.0"
    finally:
        await board.close()


async def test_many_are_asked_at_once(servers: Servers):
    boards = (servers.first.board, servers.second.board)
    found = await asyncio.gather(*(board.hosts.check(MACHINE) for board in boards * 5))
    assert {one.version for one in found} == {"0.1.0"}


async def test_refusals_come_back_with_their_reasons(servers: Servers):
    await servers.second.board.hosts.log(MACHINE)
    await servers.first.cut_relay()
    servers.first.start_relay()
    await servers.second.host(connected=True, powers=[])
    with pytest.raises(PowerNotGranted) as refused:
        await servers.second.board.hosts.log(MACHINE)
    assert refused.value.power == "read"


async def test_an_agent_is_started_and_stopped_through_either_server(
    servers: Servers, terminals: OwnTerminals
):
    await servers.first.cut_relay()
    servers.first.start_relay("start")
    await servers.second.host(connected=True, powers=["start"])
    for starting, stopping in (
        (servers.second, servers.first),
        (servers.first, servers.second),
    ):
        async with Client(f"http://127.0.0.1:{starting.port}", ADMIN) as client:
            folder = str(terminals.folder)
            started = await client.starting.start("claude", folder=folder, host=MACHINE)
        (own,) = terminals.records
        assert (started.plate.host, started.plate.pid) == (MACHINE, own.pid)
        async with Client(f"http://127.0.0.1:{stopping.port}", ADMIN) as client:
            await client.starting.stop(started.plate.plate_id)
        await until(lambda pid=own.pid: _has_ended(terminals, pid))
    asked = [one["command"] for one in await servers.recorded(events.HOST_ASKED)]
    # A server whose own relay does it asks no other one.
    assert asked == ["start", "stop"]


async def _has_ended(terminals: OwnTerminals, pid: int) -> bool | None:
    return (is_gone(pid) and not terminals.records) or None


async def test_a_result_finds_the_server_that_asked(servers: Servers):
    """A load balancer brings the relay's reports to another server than its commands."""
    await servers.first.cut_relay()
    stopped = asyncio.create_task(servers.first.idle_relay())
    await until(lambda: _is_served(servers.first))
    requests = servers.first.board.hosts.requests
    asked = asyncio.create_task(servers.first.board.hosts.ask(MACHINE, "check", {}))
    await asyncio.sleep(0.1)
    (id,) = requests._waiting
    receipt = {"id": id, "command": "check", "result": "done", "value": {"x": 1}}
    forged = {**receipt, "value": {"x": 2}}
    await servers.second.board.hosts.requests.answered("machine2", forged)
    await servers.second.board.hosts.requests.answered(MACHINE, receipt)
    await servers.second.board.hosts.requests.answered(MACHINE, forged)
    assert await asked == {"x": 1}
    stopped.cancel()


async def _is_served(world: World) -> bool | None:
    return MACHINE in world.board.hosts.requests.served or None


async def test_the_relay_may_move_to_the_other_server_meanwhile(servers: Servers):
    await servers.first.cut_relay()
    asked = asyncio.create_task(servers.first.board.hosts.check(MACHINE))
    await asyncio.sleep(0.1)
    servers.first.way = servers.second.port
    servers.first.start_relay()
    assert (await asked).version == "0.1.0"


async def test_a_server_that_stopped_takes_nothing(servers: Servers):
    servers.first.stopping.set()
    await servers.first.serving
    asked = asyncio.create_task(servers.second.board.hosts.ask(MACHINE, "check", {}))
    servers.first.way = servers.second.port
    await servers.first.cut_relay()
    servers.first.start_relay()
    try:
        assert (await asked)["version"] == "0.1.0"
    except HostUnreachable:  # It had left before it was asked.
        await servers.second.host(connected=True)
        assert (await servers.second.board.hosts.check(MACHINE)).version == "0.1.0"


async def test_no_server_claims_what_none_has_done(servers: Servers):
    servers.first.stopping_relay.set()
    await servers.first.relaying

    async def noticed() -> bool | None:
        return not await _is_served(servers.first) or None

    await until(noticed)
    with pytest.raises((HostUnreachable, HostTimedOut), match="Nothing was done"):
        await servers.second.board.hosts.ask(MACHINE, "check", {}, within=0.3)


async def test_both_do_what_their_own_machine_is_asked(servers: Servers):
    own = local_host().id
    for world in (servers.first, servers.second):
        assert (await world.board.hosts.check(own)).id == own
