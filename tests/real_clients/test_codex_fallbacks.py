"""Messages to the real Codex without an app server: typed into its terminal, or by its hooks."""

import asyncio
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.board import Board
from tests.real_clients.codex import Codex
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Hold, Say, Script
from tests.real_clients.steered import left_for_hooks, listed, reached, receipt, write
from tests.real_clients.terminal import Terminal

WAITS = "touch started; until [ -e open ]; do sleep 0.1; done"
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "Wait"}
ASKS = "Would you like to run"
ALONE = ("--no-daemon", "--dangerously-bypass-hook-trust")

pytestmark = pytest.mark.long


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
async def codex(home: Home, gate: threading.Event) -> AsyncGenerator[Codex]:
    scripts: dict[str, Script] = {
        "greet": [[Say("Hello.")]],
        "again": [[Say("Hello again.")]],
        "run": [[Call("exec_command", {"cmd": WAITS})], [Say("It ran.")], [Say("I went on.")]],
        "ask": [[Call("exec_command", {"cmd": "touch made", **ESCALATED})], [Say("Made.")]],
        "think": [[Hold(gate), Say("That took a while.")]],
    }
    with Model(Responses(), scripts) as model:
        client = Codex(home, model)
        client.prepare()
        await home.install_hooks("codex")
        yield client
        gate.set()


def alone(codex: Codex, *words: str, through: tuple[str, ...] = ()) -> Terminal:
    """A terminal without an app server."""
    return codex.terminal(codex.home.project, *ALONE, *words, through=through)


async def test_it_is_typed_into_an_idle_session(codex: Codex, board: Board):
    with alone(codex, "play:greet") as terminal:
        await terminal.shows("Hello.")
        plate = await board.plate(status="idle")
        text = "!touch made\n\nplay:again"
        await write(board, plate, text)
        found = await receipt(board, plate, text, "seen")
        assert (found["way"], found["authority"], found["attempt"]) == ("terminal", True, 1)
        await terminal.shows("Hello again.")
    assert not (codex.home.project / "made").exists()
    assert codex.model.was_told("!touch made")


async def test_hooks_bring_it_during_a_turn(codex: Codex, board: Board):
    with alone(codex, "play:run") as terminal:
        await until((codex.home.project / "started").exists, "the tool at work")
        plate = await board.plate(status="running")
        assert (await reached(board, plate))["reach"]["way"] == "hook"
        await write(board, plate, "Use the other table.")
        await write(board, plate, "Commit.", when="after_turn")
        await left_for_hooks(board, plate, "Use the other table.")
        (codex.home.project / "open").touch()
        found = await receipt(board, plate, "Use the other table.", "seen")
        assert (found["way"], found["authority"]) == ("hook", False)
        assert (await receipt(board, plate, "Commit.", "seen"))["way"] in ("hook", "terminal")
        await terminal.shows("Use the other table.", "It ran.", "Commit.")
    assert codex.model.was_told("It was not typed in this terminal")


async def test_nothing_is_typed_into_a_dialog(codex: Codex, board: Board):
    with alone(codex, "play:ask") as terminal:
        await terminal.shows(ASKS)
        plate = await board.plate(agent="codex")
        await write(board, plate, "Yes")
        await asyncio.sleep(2)
        await terminal.shows(ASKS)
        assert [one["status"] for one in await listed(board, plate)] in (["queued"], ["handed"])
        assert not (codex.home.project / "made").exists()
        await terminal.leaves(ASKS, "Enter")
        await receipt(board, plate, "Yes", "seen")


async def test_a_turn_is_interrupted(codex: Codex, board: Board):
    with alone(codex, "play:think") as terminal:
        await terminal.shows("esc to interrupt")
        plate = await board.plate(status="running")
        async with board.server.client() as client:
            told = await client.post(f"/plates/{plate['plateId']}/interrupt")
        assert told.json()["wasInterrupted"], told.json()
        await terminal.shows("interrupted")
