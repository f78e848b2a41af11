"""Permissions, questions and plans of the real Claude Code, answered on the board and at it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import GO_AHEAD, PROCEED, Claude, ClaudeTerminal
from tests.real_clients.home import CALLBOARD
from tests.real_clients.model import Model
from tests.real_clients.patience import until

from callboard import Callboard
from callboard.interactions.records import Interaction


@asynccontextmanager
async def asking(
    claude: Claude, board: Board, type: str, *options: str
) -> AsyncGenerator[tuple[ClaudeTerminal, Wire]]:
    """The client in its terminal, told to play `it`, at the moment when it asks."""
    with claude.terminal(*options) as terminal:
        await terminal.is_ready()
        await terminal.type("play:it")
        yield terminal, await board.asked(type)


# ---------------------------------------------------------------------- permissions


async def test_a_permission_given_on_the_board(claude: Claude, model: Model, board: Board):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        await terminal.shows(PROCEED)
        plate = await board.plate(status="awaiting_approval", interactionId=asked["id"])
        assert asked["config"]["toolInput"]["command"] == "touch made"
        assert plate["attention"] is True
        await board.answer(asked["id"], "yes")
        await terminal.shows("It is made.")
        await board.plate(status="idle", interactionId=None)
    assert made(claude).exists()
    found = await board.settled(asked["id"])
    assert (found["status"], found["receipt"]) == ("completed", "delivered")
    assert found["response"] == {"approved": True}
    assert (found["answeredBy"], found["answeredAs"]) == ("admin", "ann")


async def test_a_permission_refused_on_the_board_with_a_word_to_the_model(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        await board.answer(asked["id"], {"approved": False, "message": "use mkdir instead"})
        await terminal.shows("It is made.")
        await board.plate(status="idle", interactionId=None)
    assert model.was_told("use mkdir instead")
    assert not made(claude).exists()
    found = await board.settled(asked["id"])
    assert found["receipt"] == "delivered"
    assert found["response"] == {"approved": False, "message": "use mkdir instead"}


async def test_a_permission_given_in_the_terminal_first(claude: Claude, model: Model, board: Board):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        await terminal.leaves(PROCEED, "1")
        found = await board.closed(asked["id"])
        async with board.server.client() as client:
            path = f"/interactions/{asked['id']}/answer"
            late = await client.post(path, json={"value": "no"})
        await board.plate(status="idle", interactionId=None)
    assert late.status_code == 409
    assert made(claude).exists()
    assert (found["status"], found["via"]) == ("completed", "terminal")
    assert found["response"] == {"approved": True}


async def test_a_command_that_was_allowed_in_the_terminal_and_runs_long(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.TOUCH_FOR_LONG
    async with asking(claude, board, "permission") as (terminal, asked):
        await terminal.leaves(PROCEED, "1")
        found = await board.closed(asked["id"])
        assert (found["status"], found["via"]) == ("completed", "terminal")
        assert found["response"] == {"approved": True}
        # It was recorded while it ran. Esc then ends a command that was allowed.
        terminal.press("Escape")
        await board.plate(status="idle", interrupted=True)
        still = await board.question(asked["id"])
    assert (still["status"], still["response"]) == ("completed", {"approved": True})


@pytest.mark.long
async def test_an_answer_without_a_server_counts_only_if_the_agent_takes_it(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"it": scenes.TOUCH, "more": scenes.TOUCH}
    async with asking(claude, board, "permission") as (terminal, asked):
        await board.server.kill()
        accepted = await _answer_in_database(claude, asked["id"])
        assert (accepted.status, accepted.receipt) == ("pending", "pending")
        await terminal.leaves(PROCEED, "Escape")
        await board.server.restart()
        found = await board.settled(asked["id"])
        assert (found["status"], found["response"]) == ("cancelled", None)
        assert found["receipt"] == "overruled"
        # The next one is still asked when the server is back, and gets the answer then.
        await terminal.type("play:more")
        asked = await board.asked("permission")
        await board.server.kill()
        await _answer_in_database(claude, asked["id"])
        await board.server.restart()
        found = await board.settled(asked["id"])
    assert (found["status"], found["receipt"]) == ("completed", "delivered")
    assert made(claude).exists()


async def _answer_in_database(claude: Claude, id: str) -> Interaction:
    async with Callboard.open(claude.home.database) as local:
        return await local.answer(id, {"approved": True}, by="ann", via="cli")


async def test_two_permissions_at_once_answered_in_any_order(
    claude: Claude, model: Model, board: Board, tmp_path: Path
):
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file in files:
        file.write_text(f"this is {file.name}", encoding="utf-8")
    model.scripts["read"] = scenes.reading(*files)
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:read")
        second = await board.asked("permission", count=2)
        await terminal.shows("1 of 2")
        await board.answer(second["id"], "yes")
        first = await board.asked("permission")
        await board.plate(status="awaiting_approval", interactionId=first["id"])
        await board.answer(first["id"], "yes")
        await terminal.shows("Both are read.")
        await board.plate(status="idle", interactionId=None)
    assert model.was_told("this is one.txt")
    assert model.was_told("this is two.txt")


# ---------------------------------------------------------------------- questions


async def test_questions_answered_on_the_board_and_in_the_terminal(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"it": scenes.ASK, "one": scenes.ASK_ONE}
    answers = {"Which database?": "Neither, a file", "Which days?": ["Monday", "Wednesday"]}
    async with asking(claude, board, "question") as (terminal, asked):
        await board.plate(status="awaiting_input", interactionId=asked["id"])
        await board.answer(asked["id"], {"answers": answers})
        await terminal.shows("I shall use that.")
        await board.plate(status="idle", interactionId=None)
        assert model.was_told('"Which database?"="Neither, a file"')
        assert model.was_told('"Which days?"="Monday, Wednesday"')
        await terminal.type("play:one")
        asked = await board.asked("question")
        await terminal.leaves("Enter to select", "2")
        found = await board.closed(asked["id"])
        await board.plate(status="idle", interactionId=None)
    assert (found["status"], found["via"]) == ("completed", "terminal")
    assert found["response"] == {"answers": {"Which database?": "Postgres"}}


# ---------------------------------------------------------------------- plans


async def test_a_plan_is_sent_back_and_approved_on_the_board(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.PLAN
    async with asking(claude, board, "plan", "--permission-mode", "plan") as (terminal, asked):
        await board.answer(asked["id"], {"approved": False, "feedback": "tests come first"})
        await terminal.shows("So much for the plan.", "plan mode on")
        await board.plate(status="idle", interactionId=None)
        assert model.was_told("tests come first")
        await terminal.type("play:it again")
        asked = await board.asked("plan")
        await terminal.shows(GO_AHEAD)
        assert "Do it." in asked["config"]["plan"]
        await board.plate(status="awaiting_approval", interactionId=asked["id"])
        await board.answer(asked["id"], "yes")
        await terminal.shows("manual mode on")
        await board.plate(status="idle", interactionId=None)
    assert model.was_told("User has approved your plan.")


@pytest.mark.long
async def test_an_approved_plan_comes_back_once_after_clear(
    claude: Claude, model: Model, board: Board
):
    """The model is sent the plan with the first prompt after `/clear`, and not after another."""
    model.scripts |= {"it": scenes.PLAN, "say": scenes.SAY}
    async with asking(claude, board, "plan", "--permission-mode", "plan") as (terminal, asked):
        await board.answer(asked["id"], "yes")
        await terminal.shows("manual mode on")
        before = await board.plate(status="idle", interactionId=None)
        for comes_back in (True, False):
            await terminal.type("/clear")
            await board.heard(before, "session_end", reason="clear")
            await board.plate(status="idle", prompt=None)
            first = len(model.heard)
            await terminal.type("play:say")
            before = await board.plate(status="idle", prompt="play:say")
            sent = "".join(model.heard[first:])
            assert ("a person approved this plan" in sent) is comes_back
            assert ("1. Do it." in sent) is comes_back


# ---------------------------------------------------------------------- Esc, and others


@pytest.mark.parametrize(
    ("type", "script", "mode", "dialog"),
    [
        ("permission", scenes.TOUCH, "manual", PROCEED),
        pytest.param("question", scenes.ASK, "manual", "Enter to select", marks=pytest.mark.long),
        pytest.param("plan", scenes.PLAN, "plan", GO_AHEAD, marks=pytest.mark.long),
    ],
    ids=["permission", "question", "plan"],
)
async def test_esc_in_the_terminal_withdraws_what_was_asked(
    claude: Claude, model: Model, board: Board, type, script, mode, dialog
):
    model.scripts["it"] = script
    async with asking(claude, board, type, "--permission-mode", mode) as (terminal, asked):
        pressed = await terminal.leaves(dialog, "Escape")
        found = await board.closed(asked["id"])
        resolved = datetime.fromisoformat(found["resolvedAt"]).timestamp()
        print(f"{resolved - pressed:.3f} s from Esc to the board")
        plate = await board.plate(status="idle", interactionId=None)
    assert (found["status"], found["response"]) == ("cancelled", None)
    assert plate["interrupted"] is True


@pytest.mark.long
async def test_a_no_with_words_in_the_terminal_ends_the_question(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        await terminal.shows("4. No")
        await terminal.leaves("❯ 1. Yes", "Up")
        await terminal.shows("❯ 4. No")
        terminal.press("Tab")
        await terminal.shows("❯ 4. No,")
        await terminal.fill("❯ 4. No,", "ask me tomorrow")
        await terminal.shows("It is made.")
        found = await board.closed(asked["id"])
        await board.plate(status="idle", interactionId=None)
    assert model.was_told("ask me tomorrow")
    # Its message is known once the transcript has it.
    denied = {"approved": False}
    assert found["response"] in (None, denied, {**denied, "message": "ask me tomorrow"})


async def test_a_client_killed_while_it_asks(claude: Claude, model: Model, board: Board):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        claude.kill(terminal)
        found = await board.closed(asked["id"])
        await board.plate(status="closed", interactionId=None)
    assert found["status"] == "cancelled"


@pytest.mark.long
async def test_the_server_is_killed_while_a_permission_is_asked(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"it": scenes.TOUCH, "more": scenes.TOUCH}
    async with asking(claude, board, "permission") as (terminal, asked):
        await board.server.kill()
        await terminal.shows(PROCEED)
        await board.server.restart()
        again = await board.asked("permission")
        assert again["id"] == asked["id"]
        await board.answer(asked["id"], "yes")
        await terminal.shows("It is made.")
        plate = await board.plate(status="idle", interactionId=None)
        # A hook that finds no server for long tells the spool as well, and yet is asked once.
        assert (await board.told(plate)).count("input:requested") == 1
        made(claude).unlink()
        # The next one is answered in the terminal, while no server runs.
        await terminal.type("play:more")
        asked = await board.asked("permission")
        await board.server.kill()
        await terminal.leaves(PROCEED, "1")
        await until(lambda: made(claude).exists(), "the file")
        await board.server.restart()
        found = await board.closed(asked["id"])
        await board.plate(status="idle", interactionId=None)
    assert (found["status"], found["response"]) == ("completed", {"approved": True})


async def test_a_subagents_permission_is_edited_and_refused_on_the_board(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"make": scenes.TOUCH, "send": scenes.sent_away("make")}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:send")
        asked = await board.asked("permission")
        subagent = asked["config"]["subagent"]
        assert (subagent["name"], subagent["parent"]) == ("general-purpose", "project")
        await board.plate(attention=True, interactionId=asked["id"])
        edited = {**asked["config"]["toolInput"], "command": "touch made-otherwise"}
        await board.answer(asked["id"], {"approved": True, "updatedInput": edited})
        found = await board.settled(asked["id"])
        assert (found["receipt"], found["response"]["updatedInput"]) == ("delivered", edited)
        await terminal.shows("It came back.")
        await terminal.type("play:send again")
        asked = await board.asked("permission")
        await board.answer(asked["id"], {"approved": False, "message": "use mkdir"})
        found = await board.settled(asked["id"])
        assert found["receipt"] == "delivered"
        await board.plate(status="idle", waitingFor=None, background=[])
    assert model.was_told("use mkdir")
    assert made(claude).with_name("made-otherwise").exists()
    assert not made(claude).exists()


async def test_a_subagent_asks_in_the_terminal(claude: Claude, model: Model, board: Board):
    """On the board first, if someone looks there; here no one does."""
    model.scripts |= {"make": scenes.TOUCH, "send": scenes.sent_away("make")}
    with claude.terminal(through=("env", "CALLBOARD_SUBAGENT_WAIT=1")) as terminal:
        await terminal.is_ready()
        await terminal.type("play:send")
        await terminal.shows(PROCEED, "from the general-purpose agent")
        # Its turn is over, and yet it waits.
        plate = await board.plate(status="idle", attention=True, lastMessage="It is on its way.")
        assert "touch made" in plate["waitingFor"]
        listed = await claude.home.run(CALLBOARD, "plates")
        assert "! approve" in listed.out
        await terminal.leaves(PROCEED, "1")
        await until(lambda: made(claude).exists(), "the file")
        await board.plate(status="idle", waitingFor=None, background=[])


@pytest.mark.long
async def test_with_answers_off_the_board_only_looks(claude: Claude, model: Model, board: Board):
    await claude.home.install_hooks("claude", "--answers=off")
    model.scripts["make"] = scenes.TOUCH
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:make")
        plate = await board.plate(status="awaiting_approval", interactionId=None)
        assert "touch made" in plate["waitingFor"]
        await terminal.leaves(PROCEED, "1")
        await terminal.shows("It is made.")
        plate = await board.plate(status="idle", waitingFor=None)
    assert "input:requested" not in await board.told(plate)


async def test_a_headless_run_waits_for_nobody(claude: Claude, model: Model, board: Board):
    model.scripts["make"] = scenes.TOUCH
    done = await claude.run("play:make")
    assert (done.code, done.out) == (0, "It is made.\n")
    assert not made(claude).exists()
    plate = await board.plate(status="closed")
    assert (await board.told(plate)).count("permission_request") == 1
    assert "input:requested" not in await board.told(plate)


def made(claude: Claude) -> Path:
    """The file that the tool makes if it is allowed to."""
    return claude.home.project / "made"
