"""The real Codex in terminals, as it starts by default: its sessions run in one app server."""

from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.board import Board
from tests.real_clients.codex import TRUST, Codex
from tests.real_clients.home import CALLBOARD, Home
from tests.real_clients.model import Model
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Say, Script

ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "Greet everyone"}
WAITS = "until [ -e open ]; do sleep 0.1; done"
SCRIPTS: dict[str, Script] = {
    "greet": [[Say("Hello.")]],
    "ask": [[Call("exec_command", {"cmd": "echo hello", **ESCALATED})], [Say("Said it.")]],
    "wait": [[Call("exec_command", {"cmd": WAITS, **ESCALATED})], [Say("Waited.")]],
}


@pytest.fixture
async def fresh(home: Home) -> AsyncGenerator[Codex]:
    """Codex as it is after it was installed: no terminal has started the daemon yet."""
    with Model(Responses(), SCRIPTS) as model:
        client = Codex(home, model)
        client.prepare()
        await home.install_hooks("codex")
        yield client


@pytest.fixture
async def codex(fresh: Codex) -> AsyncGenerator[Codex]:
    async with fresh.app_server():
        yield fresh


async def test_each_terminal_of_a_daemon_is_a_plate(codex: Codex, board: Board):
    await one_asks_and_the_other_is_killed(codex, board)


@pytest.mark.long
async def test_each_terminal_of_the_daemon_that_the_first_one_starts(fresh: Codex, board: Board):
    with fresh.daemon():
        await one_asks_and_the_other_is_killed(fresh, board)


async def one_asks_and_the_other_is_killed(codex: Codex, board: Board) -> None:
    one, other = codex.home.project, codex.trust(codex.home.folder / "other")
    with codex.terminal(one, "play:greet") as first:
        await first.leaves(TRUST, "2", "Enter")
        idle = await board.plate(status="idle", projectPath=str(one))
        with codex.terminal(other, "play:ask") as second:
            asking = await board.plate(status="awaiting_approval", projectPath=str(other))
            assert asking["waitingFor"] == "Run: echo hello"
            assert asking["pid"] == idle["pid"], "what the agents start descends from the daemon"
            assert (await board.get(f"/plates/{idle['plateId']}"))["status"] == "idle"

            codex.process(first).kill()
            await board.plate(status="closed", plateId=idle["plateId"])
            still = await board.plate(plateId=asking["plateId"])
            assert still["status"] == "awaiting_approval"

            second.press("Enter")
            await board.plate(status="idle", plateId=asking["plateId"], lastMessage="Said it.")


@pytest.mark.long
async def test_a_command_that_was_allowed_in_the_terminal_is_running(codex: Codex, board: Board):
    """No hook says so before it ends; the app server does."""
    with codex.terminal(codex.home.project, "play:wait") as terminal:
        await terminal.leaves(TRUST, "2", "Enter")
        await board.plate(status="awaiting_approval")
        await terminal.leaves("Would you like to run", "Enter")
        await board.plate(status="running", waitingFor=None)
        (codex.home.project / "open").touch()
        await board.plate(status="idle", lastMessage="Waited.")


@pytest.mark.long
async def test_a_turn_goes_on_without_its_terminal(codex: Codex, board: Board):
    with codex.terminal(codex.home.project, "play:wait") as terminal:
        await terminal.leaves(TRUST, "2", "Enter")
        await board.plate(status="awaiting_approval")
        await terminal.leaves("Would you like to run", "Enter")
        await board.plate(status="running")
        codex.process(terminal).kill()
        await terminal.ends()
    (codex.home.project / "open").touch()
    plate = await board.plate(status="closed", lastMessage="Waited.")
    assert (await board.told(plate))[-2:] == ["stop", "process_exit"]


@pytest.mark.long
async def test_two_terminals_in_one_folder(codex: Codex, board: Board):
    project = codex.home.project
    with codex.terminal(project, "play:greet") as first:
        await first.leaves(TRUST, "2", "Enter")
        one = await board.plate(status="idle")
        with codex.terminal(project, "play:ask") as second:
            other = await board.plate(status="awaiting_approval")
            assert other["plateId"] != one["plateId"]
            codex.process(second).kill()
            codex.process(first).kill()
            await board.plate(status="closed", plateId=one["plateId"])
            waiting = await board.plate(plateId=other["plateId"])
            assert waiting["status"] == "awaiting_approval", "its dialog can be opened elsewhere"


@pytest.mark.long
async def test_a_session_that_is_resumed_has_its_plate_again(codex: Codex, board: Board):
    project = codex.home.project
    with codex.terminal(project, "play:greet") as first:
        await first.leaves(TRUST, "2", "Enter")
        plate = await board.plate(status="idle")
        codex.process(first).kill()
        await board.plate(status="closed")
    with codex.terminal(project, "resume", plate["sessionId"], "play:ask"):
        again = await board.plate(status="awaiting_approval")
    assert again["plateId"] == plate["plateId"]
    assert len(await board.plates()) == 1


@pytest.mark.long
async def test_a_terminal_that_was_announced_keeps_its_plate(codex: Codex, board: Board):
    with codex.terminal(
        codex.home.project, "play:greet", through=(CALLBOARD, "watch", "--")
    ) as one:
        starting = await board.plate(status="starting", agent="codex")
        await one.leaves(TRUST, "2", "Enter")
        idle = await board.plate(status="idle")
        assert idle["plateId"] == starting["plateId"]
        codex.process(one).kill()
        await board.plate(status="closed")
    assert len(await board.plates()) == 1


@pytest.mark.long
async def test_a_permission_is_answered_from_the_board(codex: Codex, board: Board):
    await codex.home.install_hooks("codex", "--answers=on")
    with codex.terminal(codex.home.project, "play:ask") as terminal:
        await terminal.leaves(TRUST, "2", "Enter")
        asked = await board.asked("permission")
        await board.plate(status="awaiting_approval", interactionId=asked["id"])
        await board.answer(asked["id"], "yes", approved=True)
        await board.plate(status="idle", lastMessage="Said it.")
    answered = await board.settled(asked["id"])
    assert (answered["status"], answered["receipt"]) == ("completed", "delivered")
