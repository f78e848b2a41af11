"""The conversation of an agent on another machine is read there, if its owner allows it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.held_hooks import SESSION, hook
from tests.relay_world import World, paired, sleeping_agent
from tests.transcripts import ClaudeTranscript, place_of

from callboard.errors import (
    HostFailed,
    HostUnreachable,
    NotFound,
    PowerNotGranted,
    TranscriptUnreadable,
)
from callboard.relay.machine import Machine
from callboard.vendors.conversation import Window

PROJECT = "/home/ann/shop"


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    async with paired(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
async def agent() -> AsyncIterator[int]:
    async with sleeping_agent() as pid:
        yield pid


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    made = ClaudeTranscript(place_of(tmp_path / "claude", PROJECT, SESSION), SESSION)
    made.prompt("Mend the tests.")
    made.command("toolu_1", "make test", "2 failed")
    return made


async def plate_on(world: World, agent: int, transcript: ClaudeTranscript) -> str:
    told = {"cwd": PROJECT, "transcript_path": str(transcript.file)}
    await world.report(agent, hook("SessionStart", source="startup", **told))
    return (await world.plate(status="idle")).plate_id


async def test_it_is_read_there(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("read")
    plate = await plate_on(world, agent, transcript)
    conversations = world.board.conversations

    page = await conversations.page(plate)
    assert [one.kind for one in page.items] == ["prompt", "tool"]
    item = await conversations.item(plate, "toolu_1", page.after)
    assert item.tool is not None
    assert item.tool.result == "2 failed"
    [found] = (await conversations.search(plate, "mend")).found
    assert found.id == "m1"

    window = Window(after=page.after)
    waiting = [asyncio.create_task(conversations.page(plate, window, wait=20)) for _ in range(20)]
    await asyncio.sleep(0.2)
    assert not any(one.done() for one in waiting)
    transcript.reply("They pass.")
    for later in await asyncio.gather(*waiting):
        assert [one.text for one in later.items] == ["They pass."]


async def test_a_large_page_gets_through(world: World, agent: int, transcript: ClaudeTranscript):
    for number in range(100):
        transcript.reply(f"{number} " + "ü" * 15_000)
    world.start_relay("read")
    plate = await plate_on(world, agent, transcript)
    page = await world.board.conversations.page(plate)
    assert page.items[-1].text.startswith("99 ")
    assert page.before is not None
    assert len(page.items) > 5


async def test_its_owner_has_to_allow_it(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("say")
    plate = await plate_on(world, agent, transcript)
    with pytest.raises(PowerNotGranted, match="callboard relay --allow say,read"):
        await world.board.conversations.page(plate)


@pytest.mark.long
async def test_it_cant_be_reached(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("read")
    plate = await plate_on(world, agent, transcript)
    await world.cut_relay()
    await world.host(connected=False)
    with pytest.raises(HostUnreachable, match="ada-mac can't be reached"):
        await world.board.conversations.page(plate)


async def test_errors_there_are_errors_here(world: World, agent: int, transcript: ClaudeTranscript):
    world.start_relay("read")
    plate = await plate_on(world, agent, transcript)
    page = await world.board.conversations.page(plate)
    with pytest.raises(NotFound, match="no message 'm9'"):
        await world.board.conversations.item(plate, "m9", page.after)
    transcript.file.unlink()
    with pytest.raises(TranscriptUnreadable, match="No such file"):
        await world.board.conversations.page(plate)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"value": None},
        {"value": {"items": [], "before": None}},
        {"value": {"items": [1], "before": None, "after": "1"}},
        {"value": {"items": [{"id": "a", "kind": "x"}], "before": None, "after": "1"}},
        {"value": {"items": [{}] * 1000, "before": None, "after": "1"}},
    ],
    ids=lambda value: json.dumps(value)[:40],
)
async def test_a_machine_may_send_anything(
    world: World,
    agent: int,
    transcript: ClaudeTranscript,
    monkeypatch: pytest.MonkeyPatch,
    value: dict[str, object],
):
    async def send(self: Machine, data: object) -> object:
        return value

    monkeypatch.setattr(Machine, "_transcript", send)
    world.start_relay("read")
    plate = await plate_on(world, agent, transcript)
    with pytest.raises(HostFailed, match="else than a conversation"):
        await world.board.conversations.page(plate)
