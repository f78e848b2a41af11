"""Messages to the real Gemini CLI: typed into its terminal at rest, else by its hooks."""

import asyncio
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.background import Background, data_of
from tests.real_clients.board import Board
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Hold, Say, Script
from tests.real_clients.steered import left_for_hooks, listed, reached, receipt, write
from tests.servers import serving

WAITS = {"command": "touch started; until [ -e open ]; do sleep 0.1; done", "description": "Wait"}
TOUCHES = {"command": "touch made", "description": "Make a file"}


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
async def gemini(home: Home, gate: threading.Event) -> AsyncGenerator[Gemini]:
    scripts: dict[str, Script] = {
        "greet": [[Say("Hello.")]],
        "again": [[Say("Hello again.")]],
        "run": [[Call("run_shell_command", WAITS)], [Say("It ran.")]],
        "make": [[Call("run_shell_command", TOUCHES)], [Say("It is made.")]],
        "think": [[Hold(gate), Say("That took a while.")]],
    }
    with Model(Contents(), scripts) as model:
        client = Gemini(home, model)
        client.prepare()
        await home.install_hooks("gemini")
        yield client
        gate.set()


async def test_a_message_is_typed_into_an_idle_session(gemini: Gemini, board: Board):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        plate = await board.plate(status="idle")
        await write(board, plate, "play:again\n\n/cost is no command here")
        text = "play:again\n\n/cost is no command here"
        found = await receipt(board, plate, text, "seen")
        assert (found["way"], found["authority"], found["attempt"]) == ("terminal", True, 1)
        await terminal.shows("Hello again.")
        assert (await reached(board, plate))["reach"]["way"] == "terminal"
    assert gemini.model.was_told("/cost is no command here")


@pytest.mark.long
async def test_a_hook_brings_it_while_a_tool_runs(gemini: Gemini, board: Board):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:run")
        await until((gemini.home.project / "started").exists, "the tool at work")
        plate = await board.plate(status="running", lastEvent="tool_start")
        reach = (await reached(board, plate))["reach"]
        assert (reach["way"], reach["authority"]) == ("hook", False)
        await write(board, plate, "Use the other table.")
        await write(board, plate, "play:again", when="after_turn")
        await left_for_hooks(board, plate, "Use the other table.")
        (gemini.home.project / "open").touch()
        found = await receipt(board, plate, "Use the other table.", "seen")
        assert (found["way"], found["authority"]) == ("hook", False)
        await terminal.shows("Message from", "Use the other table.", "It ran.")
        found = await receipt(board, plate, "play:again", "seen")
        assert (found["way"], found["authority"]) == ("terminal", True)
        await terminal.shows("Hello again.")
    assert gemini.model.was_told("It was not typed in this terminal")


@pytest.mark.long
async def test_what_waits_for_a_hook_is_edited_reordered_and_withdrawn(
    gemini: Gemini, board: Board
):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:run")
        await until((gemini.home.project / "started").exists, "the tool at work")
        plate = await board.plate(status="running", lastEvent="tool_start")
        first, second, third = [
            await write(board, plate, text) for text in ("One.", "Two.", "Three.")
        ]
        await left_for_hooks(board, plate, "One.")
        async with board.server.client() as client:
            path = f"/plates/{plate['plateId']}/messages"
            gone = await client.delete(f"{path}/{first['id']}")
            assert (gone.status_code, gone.json()["status"]) == (200, "withdrawn")
            changed = await client.patch(f"{path}/{second['id']}", json={"text": "Too."})
            assert changed.status_code == 200, changed.text
            moved = await client.patch(f"{path}/{third['id']}", json={"before": second["id"]})
            assert moved.status_code == 200, moved.text
        await left_for_hooks(board, plate, "Three.")
        (gemini.home.project / "open").touch()
        await receipt(board, plate, "Three.", "seen")
        found = await receipt(board, plate, "Too.", "seen")
        assert found["way"] == "terminal"
    assert not gemini.model.was_told("One.")
    assert not gemini.model.was_told("Two.")


@pytest.mark.long
async def test_a_message_to_a_thinking_session_is_typed_after_its_turn(
    gemini: Gemini, board: Board, gate: threading.Event
):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:think")
        plate = await board.plate(status="running")
        await write(board, plate, "play:again")
        found = await left_for_hooks(board, plate, "play:again")
        assert found["way"] == "hook"
        gate.set()
        found = await receipt(board, plate, "play:again", "seen")
        assert (found["way"], found["attempt"]) == ("terminal", 2)
        screen = await terminal.shows("That took a while.", "Hello again.")
        assert "failed" not in screen


@pytest.mark.long
async def test_a_permission_is_not_answered_by_a_message(gemini: Gemini, board: Board):
    with gemini.terminal(asks=True) as terminal:
        await terminal.shows("Type your message")
        await board.plate(status="idle")
        await terminal.type("play:make")
        await terminal.shows("Allow execution")
        plate = await board.plate(status="awaiting_approval")
        await write(board, plate, "Yes.")
        await asyncio.sleep(2)
        await terminal.shows("Allow execution")
        assert [one["status"] for one in await listed(board, plate)] == ["queued"]
        assert not (gemini.home.project / "made").exists()
        await terminal.leaves("Allow execution", "Enter")
        await receipt(board, plate, "Yes.", "seen")


@pytest.mark.long
async def test_a_draft_is_left_alone(gemini: Gemini, board: Board):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        plate = await board.plate(status="idle")
        terminal.press("-l", "play:greet, it is")
        await terminal.shows("play:greet, it is")
        reach = (await reached(board, plate))["reach"]
        assert (reach["way"], "next turn" in reach["note"]) == ("hook", True)
        await write(board, plate, "And look around.")
        await left_for_hooks(board, plate, "And look around.")
        await terminal.type(" a draft")
        await receipt(board, plate, "And look around.", "seen")
        await terminal.shows("it is a draft", "Message from", "Hello.")


@pytest.mark.long
async def test_without_a_terminal_the_end_of_the_turn_brings_it(gemini: Gemini, board: Board):
    """As in a terminal emulator without tmux: nothing can be typed."""
    with gemini.terminal(through=("env", "-u", "TMUX")) as terminal:
        await terminal.shows("Type your message")
        plate = await board.plate(status="idle")
        await write(board, plate, "play:again")
        await left_for_hooks(board, plate, "play:again")
        assert (await reached(board, plate))["reach"]["note"].startswith("Delivered at its next")
        await terminal.type("play:greet")
        await receipt(board, plate, "play:again", "seen")
        await write(board, plate, "play:again, later", when="after_turn")
        await terminal.type("play:greet once more")
        await receipt(board, plate, "play:again, later", "seen")


@pytest.mark.long
async def test_a_turn_is_interrupted(gemini: Gemini, board: Board):
    with gemini.terminal() as terminal:
        await terminal.shows("Type your message")
        plate = await board.plate(status="idle")
        async with board.server.client() as client:
            path = f"/plates/{plate['plateId']}/interrupt"
            told = (await client.post(path)).json()
            assert (told["wasInterrupted"], told["note"]) == (False, "No turn is running.")
            await terminal.type("play:run")
            await until((gemini.home.project / "started").exists, "the tool at work")
            await board.plate(status="running")
            assert (await client.post(path)).json()["wasInterrupted"]
        await board.plate(status="idle", interrupted=True)


@pytest.mark.long
async def test_an_agent_in_the_background_is_woken(gemini: Gemini, home: Home):
    """As `callboard start` runs it: in a terminal of ours, which nobody has attached to."""
    background = Background(home, gemini.env | data_of(home))
    async with serving(home.database, env=home.env | data_of(home)) as server:
        board = Board(server)
        plate = await background.start("gemini", "play:greet")
        await board.plate(plateId=plate["plateId"], status="idle", lastEvent="stop")
        await write(board, plate, "play:again\n\n!touch made")
        found = await receipt(board, plate, "play:again\n\n!touch made", "seen")
        assert (found["way"], found["authority"], found["attempt"]) == ("terminal", True, 1)
        await background.run("stop", plate["plateId"])
        await board.plate(plateId=plate["plateId"], status="closed")
    assert not (home.project / "made").exists()
