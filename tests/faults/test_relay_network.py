"""A relay behind a network that fails: nothing is lost, nothing is repeated, and all in order."""

import asyncio
import json
import logging
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.held_hooks import PATIENCE, bash, behavior, hook
from tests.network import Network, network
from tests.relay_world import World, paired, sleeping_agent
from tests.relays import printed

from callboard.board.hook_folders import full_marker
from callboard.board.spool import files as spools
from callboard.relay import commands, outbox
from callboard.relay.settings import hooks_of
from callboard.vendors.settings.commands import spool_command


@pytest.fixture
async def way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[World, Network]]:
    async with (
        paired(tmp_path, monkeypatch) as world,
        network(world.port) as (between, world.way),
    ):
        world.start_relay()
        await world.host(connected=True)
        yield world, between
        # Before the network goes, too.
        await world.cut_relay()


@pytest.fixture
async def agent() -> AsyncIterator[int]:
    async with sleeping_agent() as pid:
        yield pid


async def spooled(world: World, pid: int, text: str) -> None:
    """What the one-liner of a shell does with a prompt, whether there is a relay or not."""
    line = spool_command(hooks_of(world.folder / "relay"), "claude")
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", line, stdin=asyncio.subprocess.PIPE, env={**os.environ, "CLAUDE_PID": str(pid)}
    )
    await process.communicate(json.dumps(hook("UserPromptSubmit", prompt=text)).encode())


async def prompt(world: World, pid: int, text: str) -> None:
    await world.report(pid, hook("UserPromptSubmit", prompt=text))


async def test_cuts_at_any_byte_of_a_reply(way: tuple[World, Network], agent: int):
    world, between = way
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    texts = [f"p{number}" for number in range(12)]
    chance = random.Random(7)
    for text in texts:
        # Both connections are made again, and either may be the next one that is cut.
        between.cut_after = [chance.choice((0, 5, 40, 200)) for _ in range(2)]
        between.cut()
        await prompt(world, agent, text)
    await world.prompts_like(texts)


async def test_what_is_delivered_twice_and_late_counts_once(way: tuple[World, Network], agent: int):
    world, between = way
    between.repeats = True
    texts = [f"p{number}" for number in range(8)]
    await world.report(agent, hook("SessionStart", source="startup"))
    for text in texts:
        await prompt(world, agent, text)
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await between.settle()
    await world.board.answer(asked.id, approved=True)
    assert behavior(await printed(held)) == "allow"
    await world.report(agent, bash("PostToolUse"))
    await world.prompts_like(texts)
    await between.settle()
    assert await world.prompts() == texts
    (plate,) = await world.board.plates.all()
    names = [one.name for one in await world.board.plates.events(plate.plate_id)]
    assert names.count("input:requested") == names.count("input:accepted") == 1


async def test_a_slow_network_delays_and_loses_nothing(way: tuple[World, Network], agent: int):
    world, between = way
    between.delay = 0.2
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"


async def test_a_machine_that_wakes_up_connects_again_at_once(
    way: tuple[World, Network], agent: int
):
    """Its connections died during its sleep, and no packet says so."""
    world, between = way
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    between.stall()
    await world.board.answer(asked.id, approved=True)
    await prompt(world, agent, "after sleep")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await held.wait()
    world.clock.offset_ms += 8 * 3_600_000
    async with asyncio.timeout(5):
        assert behavior(await printed(held)) == "allow"
    await world.prompts_like(["after sleep"])


async def test_a_silent_connection_for_commands_is_replaced(
    way: tuple[World, Network], agent: int, monkeypatch: pytest.MonkeyPatch
):
    world, between = way
    monkeypatch.setattr(commands, "SILENCE", 1.0)
    await world.cut_relay()
    world.start_relay()
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    between.stall()
    await world.board.answer(asked.id, approved=True)
    async with asyncio.timeout(10):
        assert behavior(await printed(held)) == "allow"


@pytest.mark.long
async def test_a_silent_network_is_noticed_in_time(way: tuple[World, Network], agent: int):
    """With the real limits: no one says that anything is wrong."""
    world, between = way
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    between.stall()
    await prompt(world, agent, "unheard")
    async with asyncio.timeout(80):
        await world.prompts_like(["unheard"])


async def test_a_long_cut_is_bounded_on_disk_and_told(
    way: tuple[World, Network],
    agent: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    world, between = way
    caplog.set_level(logging.INFO)
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    await world.sent()
    monkeypatch.setattr(outbox, "MOST", 4)
    monkeypatch.setattr(spools, "MOST_SPOOLED", 6)
    between.is_down = True
    between.cut()
    texts = [f"p{number}" for number in range(10)]
    for text in texts[:4]:
        await spooled(world, agent, text)
    await _said(caplog, "4 reports wait. More of them stay in the spool.")
    for text in texts[4:]:
        await spooled(world, agent, text)
    await _said(caplog, "No room for more reports. Hooks are lost until the server can be reached.")
    assert full_marker(hooks_of(world.folder / "relay")).exists()
    await spooled(world, agent, "lost")
    assert "The server can't be reached" in caplog.text
    between.is_down = False
    await world.prompts_like(texts)
    await _said(caplog, "There is room for reports again. Some hooks were lost.")
    await spooled(world, agent, "after")
    await world.prompts_like([*texts, "after"])


async def _said(caplog: pytest.LogCaptureFixture, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in caplog.text:
            await asyncio.sleep(0.02)


async def test_a_server_that_moves_is_found_at_its_new_address(
    way: tuple[World, Network], agent: int
):
    world, _ = way
    await world.report(agent, hook("SessionStart", source="startup"))
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.stop_server()
    await prompt(world, agent, "meanwhile")
    world.port = world.way = 0
    await world.start_server()
    await world.cut_relay()
    world.start_relay()
    await world.board.answer(asked.id, approved=True)
    assert behavior(await printed(held)) == "allow"
    await world.prompts_like(["meanwhile"])


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 9))]
)
async def test_anything_in_any_order(way: tuple[World, Network], agent: int, seed: int):
    """Cuts, refused connections, restarts of either side, while hooks come in."""
    world, between = way
    chance = random.Random(seed)
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    texts = [f"p{number}" for number in range(14)]
    for number, text in enumerate(texts):
        between.delay = chance.choice((0, 0, 0.05))
        between.repeats = chance.random() < 0.5
        match chance.randrange(5):
            case 0:
                between.cut_after = [chance.randrange(300) for _ in range(2)]
                between.cut()
            case 1:
                between.is_down = not between.is_down
                between.cut()
            case 2 if number % 3 == 0:
                await world.cut_relay()
                world.start_relay()
            case 3 if number % 4 == 0:
                await world.stop_server()
                await world.start_server()
            case _:
                pass
        await prompt(world, agent, text)
    between.is_down, between.repeats, between.delay = False, False, 0.0
    await world.prompts_like(texts)
    await between.settle()
    assert await world.prompts() == texts
