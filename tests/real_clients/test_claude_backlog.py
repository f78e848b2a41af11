"""The real Claude Code asks while no server runs, and while a server reads what others left."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import PROCEED, Claude
from tests.real_clients.home import CALLBOARD, Home
from tests.real_clients.model import Model
from tests.servers import serving

from callboard.board.hook_backlog import backlog_in
from callboard.board.hook_folders import hooks_folder, spool_folder

PER_SECOND = 150
MANY = 8_000


async def test_a_permission_that_is_asked_before_any_server_ran(claude: Claude, model: Model):
    home = claude.home
    model.scripts["it"] = scenes.TOUCH
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:it")
        await terminal.shows(PROCEED)
        waiting = await home.run(CALLBOARD, "inbox")
        while "not shown yet" in waiting.out:  # On a busy machine, it doesn't read all at once.
            waiting = await home.run(CALLBOARD, "inbox")
        assert "Run: touch made" in waiting.out
        assert "Answer in its terminal." in waiting.out
        assert "! approve" in (await home.run(CALLBOARD, "plates")).out
        async with serving(home.database, env=home.env) as server:
            board = Board(server)
            asked = await board.asked("permission")
            await board.plate(status="awaiting_approval", interactionId=asked["id"])
            await board.answer(asked["id"], "yes")
            await terminal.shows("It is made.")
            found = await board.settled(asked["id"])
    assert (claude.home.project / "made").exists()
    assert (found["status"], found["receipt"]) == ("completed", "delivered")


@asynccontextmanager
async def reporting(home: Home) -> AsyncGenerator[None]:
    """Thousands of reports lie in the spool, and more come by the second."""
    spool, numbers = spool_folder(hooks_folder(home.database)), count()
    # All at once: while they are written one by one, the server reads them.
    for made in [written(home.folder, next(numbers)) for _ in range(MANY)]:
        made.rename(spool / f"{made.name}.json")

    async def go_on() -> None:
        while True:
            made = written(home.folder, next(numbers))
            made.rename(spool / f"{made.name}.json")
            await asyncio.sleep(1 / PER_SECOND)

    going_on = asyncio.create_task(go_on())
    yield
    going_on.cancel()


def written(folder: Path, number: int) -> Path:
    name = "PostToolUse" if number % 2 else "PreToolUse"
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number // 2}"}
    told = {"session_id": f"other {number % 20}", "cwd": "/tmp", "hook_event_name": name, **tool}
    made = folder / f"claude.0.{number:06}.0"
    made.write_text(json.dumps(told))
    return made


@pytest.mark.long
async def test_a_permission_and_a_death_overtake_a_backlog(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.TOUCH
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await board.plate(projectPath=str(claude.home.project))
        async with reporting(claude.home):
            await terminal.type("play:it")
            asked = await board.asked("permission")
            left = backlog_in(hooks_folder(claude.home.database))
            assert left.hooks > PER_SECOND, "it was read before the agent asked"
            claude.kill(terminal)
            await board.plate(status="closed", projectPath=str(claude.home.project))
    assert (await board.closed(asked["id"]))["status"] == "cancelled"
