"""The board in a terminal beside the real Claude Code in another: its keys answer what it asks."""

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import PROCEED, Claude
from tests.real_clients.home import CALLBOARD
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.terminal import Terminal
from tests.servers import TOKEN


def board_terminal(claude: Claude, board: Board) -> Terminal:
    """`callboard board`, as somebody has it open."""
    command = [CALLBOARD, "board", "--server", board.server.url]
    env = {**claude.home.env, "CALLBOARD_TOKEN": TOKEN}
    return Terminal(command, claude.home.project, env)


async def test_y_shows_the_command_and_enter_allows_it(claude: Claude, model: Model, board: Board):
    model.scripts["make"] = scenes.TOUCH
    made = claude.home.project / "made"
    with claude.terminal() as terminal, board_terminal(claude, board) as keys:
        await terminal.is_ready()
        await terminal.type("play:make")
        await terminal.shows(PROCEED)
        await keys.shows("! approve", "Run: touch made")
        keys.press("y")
        await keys.shows("Allow?", "$ touch made")
        assert not made.exists()
        keys.press("Enter")
        await until(made.exists, "the file")
        await keys.shows("Run: touch made", "Delivered: Claude Code is running it.")
        await terminal.shows("It is made.")


@pytest.mark.long
async def test_n_says_no_with_a_message(claude: Claude, model: Model, board: Board):
    model.scripts["make"] = scenes.TOUCH
    with claude.terminal() as terminal, board_terminal(claude, board) as keys:
        await terminal.is_ready()
        await terminal.type("play:make")
        await terminal.shows(PROCEED)
        await keys.shows("! approve", "Run: touch made")
        keys.press("n")
        await keys.shows("Deny?", "$ touch made")
        await keys.type("use mkdir")
        await keys.shows("Delivered: Claude Code was denied and got your message.")
        await until(lambda: model.was_told("use mkdir"), "the message")
    assert not (claude.home.project / "made").exists()
