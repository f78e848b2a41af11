"""Hooks that come directly: behind those that were spooled before, unless they ask a person."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.boards import SESSION, Board

from callboard.board.arrivals import Arrivals
from callboard.board.hook_folders import full_marker, hooks_folder, make_folders, spool_folder
from callboard.board.intake import Listener
from callboard.board.late_hook import LateHook
from callboard.board.plate import Plate
from callboard.board.plate_store import Heard
from callboard.board.spool.drain import SpoolDrain
from callboard.board.spool.files import Spool
from callboard.clock import SystemClock

PATIENCE = 90
BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def hook(name: str, **more: Any) -> bytes:
    told = {"session_id": SESSION, "cwd": "/home/ada/x", "hook_event_name": name, **more}
    return json.dumps(told).encode()


class SlowListener(Listener):
    """Hears what was spooled only when it may."""

    def __init__(self, board: Board) -> None:
        super().__init__(board.plates, board.clock.now_ms)
        self.may_read = asyncio.Event()

    async def overhear(self, hooks: Sequence[LateHook]) -> None:
        await self.may_read.wait()
        await super().overhear(hooks)


@dataclass
class Desk:
    folder: Path
    board: Board = field(default_factory=Board)

    def __post_init__(self) -> None:
        make_folders(self.folder)
        self.listener = SlowListener(self.board)
        clock = SystemClock()
        self.drain = SpoolDrain(Spool(self.folder, clock), self.listener, clock)
        self.arrivals = Arrivals(self.listener, self.drain)

    def spool(self, *bodies: bytes) -> None:
        for number, body in enumerate(bodies, start=1):
            left = spool_folder(self.folder) / f"claude.0.{number}.0.json"
            left.write_bytes(body)
            os.utime(left, ns=(number * 1_000_000, number * 1_000_000))

    async def hear(self, body: bytes) -> Heard | None:
        self.board.clock.skip(0.1)
        return await self.arrivals.hear("claude", body)

    async def plate(self) -> Plate:
        (found,) = await self.board.plates.all()
        return found

    async def told(self) -> list[str]:
        """The hooks that the plate has heard."""
        raws = [event.payload.get("raw") for event in await self.board.events(await self.plate())]
        return [raw["hook_event_name"] for raw in raws if isinstance(raw, dict)]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(hooks_folder(tmp_path / "x.db"))
    yield desk
    await desk.drain.close()


async def test_what_was_spooled_before_comes_first(desk: Desk):
    desk.spool(hook("SessionStart", source="startup"), hook("UserPromptSubmit", prompt="Go"))
    desk.listener.may_read.set()
    await desk.hear(hook("PreToolUse", **BASH))
    # On a busy machine it does not wait for all of the backlog, and joins it.
    assert await desk.drain.catch_up(PATIENCE)
    assert await desk.told() == ["SessionStart", "UserPromptSubmit", "PreToolUse"]


async def test_behind_a_backlog_a_hook_keeps_its_place(desk: Desk):
    desk.spool(hook("SessionStart", source="startup"), hook("UserPromptSubmit", prompt="Go"))
    assert await desk.hear(hook("PreToolUse", **BASH)) is None
    assert await desk.hear(hook("PostToolUse", **BASH)) is None
    assert await desk.board.plates.all() == []
    desk.listener.may_read.set()
    assert await desk.drain.catch_up(PATIENCE)
    told = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"]
    assert await desk.told() == told
    assert desk.listener.received.heard == len(told)


async def test_one_that_asks_a_person_overtakes(desk: Desk):
    desk.spool(hook("SessionStart", source="startup"), hook("UserPromptSubmit", prompt="Go"))
    asks = hook("PermissionRequest", **BASH, callboard={"hold": "q1"})
    heard = await desk.hear(asks)
    assert heard is not None
    assert heard.interaction_id == "q1"
    desk.listener.may_read.set()
    assert await desk.drain.catch_up(PATIENCE)
    plate = await desk.plate()
    assert (plate.status, plate.interaction_id) == ("awaiting_approval", "q1")
    assert plate.prompt == "Go"


async def test_one_that_asks_a_person_waits_longer_for_what_led_to_it(desk: Desk):
    desk.spool(hook("SessionStart", source="startup"), hook("UserPromptSubmit", prompt="Go"))
    asks = asyncio.create_task(
        desk.hear(hook("PermissionRequest", **BASH, callboard={"hold": "q"}))
    )
    # A hook that came with it has given up by now, and joined the backlog.
    assert await desk.hear(hook("PreToolUse", **BASH)) is None
    desk.listener.may_read.set()
    assert (await asks) is not None
    assert (await desk.told())[:2] == ["SessionStart", "UserPromptSubmit"]


async def test_one_that_waits_no_more_overtakes_too(desk: Desk):
    desk.spool(hook("SessionStart", source="startup"))
    await desk.hear(hook("PermissionRequest", **BASH, callboard={"hold": "q1"}))
    await desk.hear(hook("PermissionRequest", **BASH, callboard={"hold": "q1", "gone": True}))
    assert (await desk.plate()).interaction_id is None
    assert (await desk.board.interaction("q1")).status == "cancelled"


async def test_behind_a_backlog_it_stays_a_report_of_its_token_s_host(desk: Desk):
    host = "Ada’s notebook, at home"
    desk.spool(hook("UserPromptSubmit", prompt="Go"))
    desk.board.clock.skip(0.1)
    assert await desk.arrivals.hear("claude", hook("Stop"), host) is None
    desk.listener.may_read.set()
    assert await desk.drain.catch_up(PATIENCE)
    hosts = {plate.host: plate.status for plate in await desk.board.plates.all()}
    assert hosts[host] == "idle"
    assert len(hosts) == 2


async def test_what_was_kept_in_memory_stays_a_report_of_its_token_s_host(desk: Desk):
    full_marker(desk.folder).touch()
    desk.drain.keep("claude", hook("SessionStart", source="startup"), "atlas")
    desk.listener.may_read.set()
    assert await desk.drain.catch_up(PATIENCE)
    assert (await desk.plate()).host == "atlas"
