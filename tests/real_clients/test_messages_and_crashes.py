"""Messages to real clients, while the server or the client is killed at every step.

Afterwards, each message is delivered, still queued, or called lost; and never given twice.
"""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Say, Script
from tests.real_clients.steered import left_for_hooks, receipt, write

WAITS = {"command": "touch started; until [ -e open ]; do sleep 0.1; done", "description": "Wait"}
STEPS = ["message_queued", "message_handed", "message_delivered"]

pytestmark = pytest.mark.long


@pytest.fixture
async def gemini(home: Home) -> AsyncGenerator[Gemini]:
    scripts: dict[str, Script] = {
        "again": [[Say("Hello again.")]],
        "run": [[Call("run_shell_command", WAITS)], [Say("It ran.")]],
    }
    with Model(Contents(), scripts) as model:
        client = Gemini(home, model)
        client.prepare()
        await home.install_hooks("gemini")
        yield client


@pytest.mark.parametrize("step", STEPS)
async def test_the_server_is_killed_while_a_message_is_typed(
    gemini: Gemini, board: Board, step: str
):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        plate = await board.plate(status="idle")
        await write(board, plate, "play:again")
        await board.heard(plate, step)
        await board.server.kill()
        await board.server.restart()
        found = await receipt(board, plate, "play:again", "seen", "lost")
        prompts = (await board.told(plate)).count("prompt_submit")
        assert prompts == (found["status"] == "seen")
        screen = await terminal.shows("Hello again." if prompts else "Type your message")
        assert screen.count("play:again") == prompts


@pytest.mark.parametrize("moment", ["left", "taken"])
async def test_the_server_is_killed_while_a_message_waits_for_a_hook(
    gemini: Gemini, board: Board, moment: str
):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:run")
        await until((gemini.home.project / "started").exists, "the tool at work")
        plate = await board.plate(status="running", lastEvent="tool_start")
        await write(board, plate, "Use the other table.")
        await left_for_hooks(board, plate, "Use the other table.")
        await board.server.kill()
        if moment == "taken":
            (gemini.home.project / "open").touch()
            await terminal.shows("Use the other table.", "It ran.")
        await board.server.restart()
        (gemini.home.project / "open").touch()
        found = await receipt(board, plate, "Use the other table.", "seen")
        assert (found["way"], found["attempt"]) == ("hook", 1)
        screen = await terminal.shows("It ran.")
        assert screen.count("Use the other table.") == 1


@pytest.mark.parametrize("step", STEPS)
async def test_claude_is_killed(claude: Claude, model: Model, board: Board, step: str):
    gate = threading.Event()
    model.scripts |= {"slow": scenes.slow(gate)}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        plate = await board.plate(status="idle")
        await terminal.type("play:slow")
        await board.plate(status="running")
        await write(board, plate, "Be brief.")
        await board.heard(plate, step)
        claude.kill(terminal)
        await board.plate(status="closed")
        found = await receipt(board, plate, "Be brief.", "queued", "delivered", "seen", "lost")
        await asyncio.sleep(6)
        found = await receipt(board, plate, "Be brief.", "queued", "delivered", "seen", "lost")
        assert (found["status"] == "seen") == model.was_told("Be brief.")
        assert found["status"] != "lost" or found["note"]
        gate.set()


async def test_gemini_is_killed_while_a_message_waits_for_a_hook(gemini: Gemini, board: Board):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:run")
        await until((gemini.home.project / "started").exists, "the tool at work")
        plate = await board.plate(status="running", lastEvent="tool_start")
        await write(board, plate, "Use the other table.")
        await left_for_hooks(board, plate, "Use the other table.")
        os.kill(plate["pid"], signal.SIGKILL)
        await board.plate(status="closed")
        await board.heard(plate, "message_returned")
        found = await receipt(board, plate, "Use the other table.", "queued")
        assert found["way"] is None
    assert not gemini.model.was_told("Use the other table.")
