"""Messages to the coding agents of another machine, through its relay."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.relay_world import ADMIN, World, paired, sleeping_agent, until
from tests.scripted_agent import ScriptedAgent

from callboard.board import agent_messages, plate_delivery
from callboard.board.messages import PlateMessage
from callboard.client.client import Client
from callboard.errors import PowerNotGranted
from callboard.relay import machine

MACHINE = "machine1"
SESSION = {"session_id": "s1", "cwd": "/p", "hook_event_name": "SessionStart", "source": "startup"}


class MessageRelayWorld:
    """A relay's agent with one session, whose client takes messages as a test says."""

    def __init__(self, world: World, agent: ScriptedAgent) -> None:
        self.world = world
        self.agent = agent

    async def client(self) -> Client:
        return Client(f"http://127.0.0.1:{self.world.port}", ADMIN)

    async def say(self, text: str) -> PlateMessage:
        plate = await self.world.plate()
        async with await self.client() as client:
            return await client.messages.say(plate.plate_id, text)

    async def receipt(self, text: str, *wanted: str) -> PlateMessage:
        plate = await self.world.plate()

        async def look() -> PlateMessage | None:
            queue = await self.world.board.messages.list(plate.plate_id)
            found = (one for one in queue.messages if one.text == text)
            return next((one for one in found if one.status in wanted), None)

        return await until(look)

    async def cut(self) -> None:
        await self.world.cut_relay()

        async def noticed() -> bool | None:
            return MACHINE not in self.world.board.hosts.requests.served or None

        await until(noticed)


@pytest.fixture
async def there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MessageRelayWorld]:
    agent = ScriptedAgent()
    monkeypatch.setattr(machine, "ways_here", lambda hooks: lambda name: agent)
    monkeypatch.setattr(plate_delivery, "SAID_WITHIN", 0.5)
    monkeypatch.setattr(plate_delivery, "RETRIES", (0.2,))
    monkeypatch.setattr(agent_messages, "REACHED_WITHIN", 0.5)
    async with paired(tmp_path, monkeypatch) as world, sleeping_agent() as pid:
        world.start_relay("say")
        await world.host(connected=True)
        await world.report(pid, SESSION)
        await world.plate(status="idle")
        yield MessageRelayWorld(world, agent)


async def test_it_is_delivered(there: MessageRelayWorld):
    there.agent.shows["a"] = "seen"
    written = await there.say("a")
    assert written.by == "admin"
    found = await there.receipt("a", "seen")
    assert (found.attempt, there.agent.got) == (1, ["a"])


async def test_its_owner_has_to_allow_it(there: MessageRelayWorld):
    await there.cut()
    there.world.start_relay("read")
    await there.world.host(connected=True, powers=["read"])
    plate = await there.world.plate()
    async with await there.client() as client:
        with pytest.raises(PowerNotGranted, match="callboard relay --allow read,say"):
            await client.messages.say(plate.plate_id, "a")
        with pytest.raises(PowerNotGranted, match="callboard relay --allow read,say"):
            await client.messages.interrupt(plate.plate_id)
        reach = (await client.messages.list(plate.plate_id)).reach
    assert reach.way is None
    assert "callboard relay --allow read,say" in (reach.note or "")
    assert there.agent.got == []


async def test_a_power_that_is_taken_back_keeps_messages_queued(there: MessageRelayWorld):
    there.agent.way = None
    await there.say("a")
    await there.cut()
    there.agent.way = "inbox"
    there.world.start_relay()
    await there.world.host(connected=True, powers=[])
    await asyncio.sleep(0.3)
    assert (await there.receipt("a", "queued")).note is None
    assert there.agent.got == []


async def test_it_is_interrupted(there: MessageRelayWorld):
    plate = await there.world.plate()
    async with await there.client() as client:
        assert (await client.messages.interrupt(plate.plate_id)).was_interrupted
    assert there.agent.interrupts == 1
    told = [event.name for event in await there.world.board.plates.events(plate.plate_id)]
    assert told[-2:] == ["interrupt_requested", "interrupt_answered"]


async def test_it_waits_for_a_machine_that_is_away(there: MessageRelayWorld):
    await there.cut()
    there.agent.shows["a"] = "seen"
    await there.say("a")
    await asyncio.sleep(0.3)
    assert await there.receipt("a", "queued")
    assert there.agent.got == []
    there.world.start_relay("say")
    await there.receipt("a", "seen")
    assert there.agent.got == ["a"]


@pytest.mark.parametrize("shows", ["seen", None])
async def test_the_relay_dies_in_the_middle(there: MessageRelayWorld, shows: str | None):
    died = asyncio.Event()

    def die(text: str) -> None:
        there.world.relaying.cancel()
        died.set()

    there.agent.on_say = die
    if shows:
        there.agent.shows["a"] = shows
    await there.say("a")
    await died.wait()
    await there.cut()
    there.agent.on_say = None
    there.world.start_relay("say")
    found = await there.receipt("a", "seen" if shows else "handed")
    await asyncio.sleep(0.5)
    assert found.attempt == 1
    assert there.agent.got == ["a"]


@pytest.mark.parametrize("moment", ["before", "in the middle", "after"])
async def test_the_server_dies(there: MessageRelayWorld, moment: str):
    reached = asyncio.Event()
    there.agent.on_say = lambda text: reached.set()
    if moment == "before":
        await there.cut()
    await there.say("a")
    if moment != "before":
        await reached.wait()
    if moment == "after":
        await there.receipt("a", "handed")
    await there.world.stop_server()
    there.agent.shows["a"] = "seen"
    await there.world.start_server()
    if moment == "before":
        there.world.start_relay("say")
    assert (await there.receipt("a", "seen")).attempt == 1
    assert there.agent.got == ["a"]


@pytest.mark.parametrize(
    "anything",
    [{}, {"result": 7, "status": ["seen"], "way": {}}, {"status": "seen", "atMs": "x"}, {"way": 7}],
)
async def test_a_machine_may_answer_anything(
    there: MessageRelayWorld, anything: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    class Told:
        def to_wire(self) -> dict[str, Any]:
            return anything

    async def say_anything(*given: object) -> Told:
        return Told()

    monkeypatch.setattr(there.agent, "reach", say_anything)
    monkeypatch.setattr(there.agent, "look", say_anything)
    plate = await there.world.plate()
    await there.say("a")
    async with await there.client() as client:
        found = await client.messages.list(plate.plate_id)
    assert [one.status for one in found.messages] == ["queued"]
