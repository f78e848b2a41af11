"""Agents that a server starts on a relay's machine, without the client: a small program instead."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
from tests.held_hooks import hook
from tests.relay_world import World, paired, until
from tests.terminals import OwnTerminals, is_gone

from callboard.errors import CallboardError, ConflictError, PowerNotGranted

SCRIPT = """#!/bin/sh
# As scripts of npm do, it starts the actual program.
{python} -c 'import time; time.sleep(600)' "$@" &
echo $! > {child}
wait
"""


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnTerminals]:
    made = OwnTerminals.made_in(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(made.folder))
    script = SCRIPT.format(python=sys.executable, child=made.folder / "child")
    monkeypatch.setenv("PATH", f"{made.program('claude', script)}:{os.environ['PATH']}")
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(made.folder)


@pytest.fixture
async def world(
    tmp_path: Path, terminals: OwnTerminals, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    async with paired(tmp_path, monkeypatch) as made:
        yield made


async def child_of(terminals: OwnTerminals) -> int:
    """The program that the script started."""

    async def look() -> int | None:
        file = terminals.folder / "child"
        return int(file.read_text()) if file.exists() and file.read_text().strip() else None

    return await until(look)


async def test_hooks_of_a_program_that_a_script_started_reach_its_plate(
    world: World, terminals: OwnTerminals, tmp_path: Path
):
    world.start_relay("start")
    await world.host(connected=True)
    starting = world.board.starting
    started = await starting.start("claude", folder=str(tmp_path), host="ada-mac")
    assert "hooks are not installed" in (started.warning or "")
    child = await child_of(terminals)
    await world.report(
        child, hook("SessionStart", source="startup", session_id="s1", cwd=str(tmp_path))
    )
    await world.report(
        child, hook("UserPromptSubmit", prompt="Go.", session_id="s1", cwd=str(tmp_path))
    )
    plate = await world.plate(status="running")
    assert (plate.plate_id, plate.session_id) == (started.plate.plate_id, "s1")
    assert len(await world.board.plates.all()) == 1
    with pytest.raises(ConflictError, match="still running"):
        await starting.start("", folder="", resume="s1")

    await starting.stop(plate.plate_id)
    closed = await world.plate(status="closed")
    assert is_gone(child)
    again = await starting.start("", folder="", resume="s1", prompt="On.")
    assert (again.plate.plate_id, again.plate.session_id) == (closed.plate_id, "s1")
    (own,) = terminals.records
    assert await child_of(terminals)
    assert psutil.Process(own.pid).cmdline()[-4:] == ["--resume", "s1", "--", "On."]
    assert len(await world.board.plates.all()) == 1


async def test_what_a_machine_does_not_allow_is_named(world: World, tmp_path: Path):
    world.start_relay("read")
    await world.host(connected=True)
    with pytest.raises(PowerNotGranted, match="callboard relay --allow read,start"):
        await world.board.starting.start("claude", folder=str(tmp_path), host="ada-mac")


async def test_what_cannot_be_started_there_is_said_by_that_machine(world: World, tmp_path: Path):
    world.start_relay("start")
    await world.host(connected=True)
    for agent, folder, said in (
        ("claude", str(tmp_path / "none"), "does not exist there"),
        ("codex", str(tmp_path), "npm install -g @openai/codex"),
    ):
        with pytest.raises(CallboardError, match=said):
            await world.board.starting.start(agent, folder=folder, host="ada-mac")
