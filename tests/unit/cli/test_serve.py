"""What `callboard serve` prints when it is ready."""

import pytest

from callboard.app import Callboard
from callboard.cli.commands import serve
from callboard.cli.targets import Database
from callboard.server.running import Address


async def test_of_a_long_question_only_the_beginning_is_printed(
    capsys: pytest.CaptureFixture[str],
):
    async with Callboard.open() as board:
        asked = await board.people.ask(type="approval", prompt="Is it fine? " + "x" * 1_000_000)
        serve._announce(board, Database("x.db"), Address("127.0.0.1", 1), [asked])
    printed = capsys.readouterr().out
    assert "Open question: Is it fine? xxx" in printed
    assert len(printed) < 2000
