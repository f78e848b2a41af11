"""Calls of the real Claude Code that a person edits before allowing them."""

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.model import Model
from tests.real_clients.test_claude_answers import asking, made


async def test_a_command_and_a_file_edited_on_the_board_before_they_are_allowed(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"it": scenes.TOUCH, "write": scenes.WRITE}
    async with asking(claude, board, "permission") as (terminal, asked):
        edited = {**asked["config"]["toolInput"], "command": "touch made-otherwise"}
        await board.answer(asked["id"], {"approved": True, "updatedInput": edited})
        await terminal.shows("It is made.")
        await board.plate(status="idle", interactionId=None)
        found = await board.settled(asked["id"])
        assert found["receipt"] == "delivered"
        assert found["response"] == {"approved": True, "updatedInput": edited}
        assert found["config"]["toolInput"]["command"] == "touch made"
        await terminal.type("play:write")
        asked = await board.asked("permission")
        edited = {**asked["config"]["toolInput"], "content": "two\n"}
        await board.answer(asked["id"], {"approved": True, "updatedInput": edited})
        await terminal.shows("It is written.")
        found = await board.settled(asked["id"])
    assert found["receipt"] == "delivered"
    assert not made(claude).exists()
    assert made(claude).with_name("made-otherwise").exists()
    assert made(claude).with_name("note").read_text() == "two\n"


@pytest.mark.long
async def test_an_edited_command_that_does_not_fit_the_tool_is_denied(
    claude: Claude, model: Model, board: Board
):
    model.scripts["it"] = scenes.TOUCH
    async with asking(claude, board, "permission") as (terminal, asked):
        edited = {"command": "touch made-otherwise", "timeout": "soon"}
        await board.answer(asked["id"], {"approved": True, "updatedInput": edited})
        await terminal.shows("permission denied")
        found = await board.settled(asked["id"])
    assert (found["receipt"], found["response"]["approved"]) == ("overruled", False)
    assert not made(claude).exists()
    assert not made(claude).with_name("made-otherwise").exists()
