"""The real Claude Code on another machine: its hooks reach the board through a relay.

The two machines are two homes: the client, its hooks and the relay have one, and the server has the
other.
"""

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import PROCEED, Claude
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.relays import RelayProcess, relaying_as
from tests.servers import serving

ANSWERS = {"Which database?": "Neither, a file", "Which days?": ["Monday", "Wednesday"]}


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Board]:
    """The board of a server in another home."""
    there = Home.made_in(tmp_path / "there")
    async with serving(there.database, env={"HOME": str(there.folder)}) as server:
        yield Board(server)


@pytest.fixture
async def relay(home: Home, board: Board) -> AsyncGenerator[RelayProcess]:
    """The relay of the client's machine."""
    share = home.folder / ".local" / "share"
    made = RelayProcess(share, "ada-mac", environment={"HOME": str(home.folder)})
    async with relaying_as(made, board.server):
        yield made


@pytest.fixture
async def claude(plain_claude: Claude, board: Board, relay: RelayProcess) -> Claude:
    """Claude Code, whose hooks report to the relay."""
    await plain_claude.home.install_hooks("claude", f"--server={board.server.url}")
    return plain_claude


async def receipt(board: Board, asked: Wire, value: Any) -> Wire:
    """Answer, and wait until it is known what the client did with the answer."""
    await board.answer(asked["id"], value)
    found = await board.settled(asked["id"])
    assert (found["status"], found["receipt"]) == ("completed", "delivered")
    assert (found["answeredBy"], found["answeredAs"]) == ("admin", "ann")
    return found


async def test_everything_it_asks_is_answered_on_the_board(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"plan": scenes.PLAN, "make": scenes.TOUCH, "ask": scenes.ASK}
    with claude.terminal("--permission-mode", "plan") as terminal:
        await terminal.is_ready()
        await terminal.type("play:plan")
        asked = await board.asked("plan")
        assert "Do it." in asked["config"]["plan"]
        await receipt(board, asked, "yes")
        await terminal.shows("manual mode on")
        await board.plate(status="idle", interactionId=None, hostName="ada-mac")

        await terminal.type("play:make")
        asked = await board.asked("permission")
        assert asked["config"]["toolInput"]["command"] == "touch made"
        assert (await receipt(board, asked, "yes"))["response"] == {"approved": True}
        await terminal.shows("It is made.")
        await board.plate(status="idle", interactionId=None)

        await terminal.type("play:ask")
        await receipt(board, await board.asked("question"), {"answers": ANSWERS})
        await board.plate(status="idle", interactionId=None)
    assert (claude.home.project / "made").exists()
    assert model.was_told("User has approved your plan.")
    assert model.was_told('"Which database?"="Neither, a file"')
    assert model.was_told('"Which days?"="Monday, Wednesday"')
    await board.plate(status="closed")


@pytest.mark.long
async def test_a_no_reaches_the_model_with_its_words(claude: Claude, model: Model, board: Board):
    model.scripts |= {"plan": scenes.PLAN, "make": scenes.TOUCH}
    with claude.terminal("--permission-mode", "plan") as terminal:
        await terminal.is_ready()
        await terminal.type("play:plan")
        no = {"approved": False, "feedback": "tests come first"}
        await receipt(board, await board.asked("plan"), no)
        await terminal.shows("So much for the plan.", "plan mode on")
        await board.plate(status="idle", interactionId=None)
        await terminal.type("play:plan again")
        await receipt(board, await board.asked("plan"), "yes")
        await terminal.shows("manual mode on")
        await board.plate(status="idle", interactionId=None)
        await terminal.type("play:make")
        no = {"approved": False, "message": "use mkdir instead"}
        await receipt(board, await board.asked("permission"), no)
        await terminal.shows("It is made.")
    assert model.was_told("tests come first")
    assert model.was_told("use mkdir instead")
    assert not (claude.home.project / "made").exists()


@pytest.mark.long
async def test_the_relay_is_killed_while_a_permission_is_asked(
    claude: Claude, model: Model, board: Board, relay: RelayProcess
):
    model.scripts["make"] = scenes.TOUCH
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:make")
        asked = await board.asked("permission")
        await terminal.shows(PROCEED)
        await relay.kill()
        await board.answer(asked["id"], "yes")
        await relay.start()
        await terminal.shows("It is made.")
        found = await board.settled(asked["id"])
        assert (found["status"], found["receipt"]) == ("completed", "delivered")
        plate = await board.plate(status="idle", interactionId=None)
    assert (await board.told(plate)).count("input:requested") == 1


@pytest.mark.long
async def test_the_server_is_killed_while_a_permission_is_asked(
    claude: Claude, model: Model, board: Board
):
    model.scripts["make"] = scenes.TOUCH
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:make")
        asked = await board.asked("permission")
        await board.server.kill()
        await terminal.shows(PROCEED)
        await board.server.restart()
        await receipt(board, asked, "yes")
        await terminal.shows("It is made.")
        plate = await board.plate(status="idle", interactionId=None)
    assert (await board.told(plate)).count("input:requested") == 1


@pytest.mark.long
async def test_esc_is_seen_without_a_hook(claude: Claude, model: Model, board: Board):
    """In a dialog, and while a command runs that was allowed."""
    model.scripts |= {"make": scenes.TOUCH, "wait": scenes.TOUCH_FOR_LONG}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:make")
        asked = await board.asked("permission")
        await terminal.leaves(PROCEED, "Escape")
        found = await board.closed(asked["id"])
        await board.plate(status="idle", interactionId=None, interrupted=True)
        assert (found["status"], found["response"]) == ("cancelled", None)
        await terminal.type("play:wait")
        asked = await board.asked("permission")
        await board.answer(asked["id"], "yes")
        await until(lambda: (claude.home.project / "made").exists(), "the file")
        await board.plate(status="running")
        pressed = time.time()
        terminal.press("Escape")
        plate = await board.plate(status="idle", interrupted=True)
        print(f"{time.time() - pressed:.3f} s from Esc to the board")
    events = await board.events(plate)
    assert "transcript" in [one["payload"].get("seenIn") for one in events]
