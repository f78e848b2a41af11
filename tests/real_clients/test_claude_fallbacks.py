"""Messages to the real Claude Code without a usable inbox: typed into its terminal, or by hooks."""

import threading
from pathlib import Path

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import PROCEED, Claude, ClaudeTerminal
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Say
from tests.real_clients.steered import left_for_hooks, listed, reached, receipt, write

NO_TMUX = ("env", "-u", "TMUX")


async def without_inbox(claude: Claude, terminal: ClaudeTerminal, board: Board) -> Wire:
    """Its plate, once its socket is gone: nothing but a terminal and hooks lead to it."""

    def look() -> Path | None:
        path = claude.registry(terminal.pid).get("messagingSocketPath")
        return Path(path) if path and Path(path).exists() else None

    await terminal.is_ready()
    socket = await until(look, "an inbox")
    assert socket is not None
    socket.unlink()
    return await board.plate(status="idle")


@pytest.mark.long
async def test_it_is_typed_into_an_idle_session(claude: Claude, model: Model, board: Board):
    model.scripts |= {"say": scenes.SAY}
    with claude.terminal() as terminal:
        plate = await without_inbox(claude, terminal, board)
        text = "/cost is no command\n\nHere. play:say"
        await write(board, plate, text)
        found = await receipt(board, plate, text, "seen")
        assert (found["way"], found["authority"], found["attempt"]) == ("terminal", True, 1)
        await terminal.shows("Nothing to do.")
    assert model.was_told("/cost is no command")


@pytest.mark.long
async def test_a_long_one_is_typed(claude: Claude, model: Model, board: Board):
    text = "play:say\n" + "\n".join(f"Line {number} of many, and more." for number in range(300))
    model.scripts |= {"say": scenes.SAY}
    with claude.terminal() as terminal:
        plate = await without_inbox(claude, terminal, board)
        await write(board, plate, text)
        assert (await receipt(board, plate, text, "seen"))["way"] == "terminal"
    assert model.was_told("Line 299 of many")


@pytest.mark.long
async def test_a_hook_brings_it_while_a_tool_runs(claude: Claude, model: Model, board: Board):
    goes_on = claude.home.project / "goes-on"
    wait = f"until test -e {goes_on}; do sleep 0.1; done"
    call = Call("Bash", {"command": wait, "description": "Wait"})
    model.scripts |= {"wait": [[call], [Say("It is there.")], [Say("I went on.")]]}
    with claude.terminal("--allowedTools", "Bash") as terminal:
        await without_inbox(claude, terminal, board)
        await terminal.type("play:wait")
        plate = await board.plate(lastEvent="tool_start")
        reach = (await reached(board, plate))["reach"]
        assert (reach["way"], reach["authority"]) == ("hook", False)
        await write(board, plate, "Use the other table.")
        await write(board, plate, "Commit.", when="after_turn")
        await left_for_hooks(board, plate, "Use the other table.")
        goes_on.touch()
        found = await receipt(board, plate, "Use the other table.", "seen")
        assert (found["way"], found["authority"]) == ("hook", False)
        await receipt(board, plate, "Commit.", "seen")
        await terminal.shows("Use the other table.", "It is there.", "Commit.")
    assert model.was_told("It was not typed in this terminal")


@pytest.mark.long
async def test_the_end_of_a_turn_brings_it(claude: Claude, model: Model, board: Board):
    gate = threading.Event()
    model.scripts |= {"slow": [*scenes.slow(gate), [Say("I went on.")]]}
    with claude.terminal(through=NO_TMUX) as terminal:
        await without_inbox(claude, terminal, board)
        await terminal.type("play:slow")
        plate = await board.plate(status="running")
        await write(board, plate, "Then commit.", when="after_turn")
        await left_for_hooks(board, plate, "Then commit.")
        gate.set()
        assert (await receipt(board, plate, "Then commit.", "seen"))["way"] == "hook"
        await terminal.shows("I went on.")
        await board.plate(status="idle")


@pytest.mark.long
async def test_without_a_terminal_it_comes_with_the_next_prompt(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"say": scenes.SAY}
    with claude.terminal(through=NO_TMUX) as terminal:
        plate = await without_inbox(claude, terminal, board)
        reach = (await reached(board, plate))["reach"]
        assert (reach["way"], "next turn" in reach["note"]) == ("hook", True)
        await write(board, plate, "Be brief.")
        await left_for_hooks(board, plate, "Be brief.")
        await terminal.type("play:say")
        await receipt(board, plate, "Be brief.", "seen")
        await terminal.shows("Be brief.", "Nothing to do.")
    assert model.was_told("Be brief.")


@pytest.mark.long
async def test_nothing_is_typed_while_a_permission_waits(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"make": scenes.TOUCH}
    with claude.terminal() as terminal:
        await without_inbox(claude, terminal, board)
        await terminal.type("play:make")
        asked = await board.asked("permission")
        plate = await board.plate(status="awaiting_approval")
        await write(board, plate, "Yes.")
        await terminal.shows(PROCEED)
        assert [one["status"] for one in await listed(board, plate)] == ["queued"]
        await board.answer(asked["id"], "no")
        await board.settled(asked["id"])
        await receipt(board, plate, "Yes.", "seen")
    assert not (claude.home.project / "made").exists()


@pytest.mark.long
async def test_a_turn_is_interrupted(claude: Claude, model: Model, board: Board):
    gate = threading.Event()
    model.scripts |= {"slow": scenes.slow(gate)}
    with claude.terminal() as terminal:
        plate = await without_inbox(claude, terminal, board)
        async with board.server.client() as client:
            path = f"/plates/{plate['plateId']}/interrupt"
            assert not (await client.post(path)).json()["wasInterrupted"]
            await terminal.type("play:slow")
            await board.plate(status="running")
            await until(lambda: claude.registry(terminal.pid).get("status") == "busy", "a turn")
            assert (await client.post(path)).json()["wasInterrupted"]
        await board.plate(status="idle", interrupted=True)
        gate.set()


@pytest.mark.long
@pytest.mark.parametrize("transport", ["command", "http"])
async def test_hooks_of_every_kind_bring_it(
    plain_claude: Claude, model: Model, board: Board, transport: str
):
    reached = ("--force", f"--port={board.server.port}") if transport == "http" else ()
    await plain_claude.home.install_hooks("claude", f"--transport={transport}", *reached)
    model.scripts |= {"say": scenes.SAY}
    with plain_claude.terminal(through=NO_TMUX) as terminal:
        plate = await without_inbox(plain_claude, terminal, board)
        await write(board, plate, "Be brief.")
        await left_for_hooks(board, plate, "Be brief.")
        await terminal.type("play:say")
        await receipt(board, plate, "Be brief.", "seen")
        await terminal.shows("Be brief.", "Nothing to do.")
    assert model.was_told("Be brief.")
