"""`callboard mcp`."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from callboard.cli import options
from callboard.cli.places import Board, Place
from callboard.harness.asking import ABOUT, Asking, owner
from callboard.harness.keys import client_key
from callboard.harness.protocol import Tool, serve

if TYPE_CHECKING:
    from callboard.harness.asking import Inbox


@click.command("mcp")
@options.anywhere
def command(place: Place, as_json: bool) -> None:
    """Give agents tools to ask you, and to fetch your answers.

    An MCP server on standard input and output, for the configuration of any MCP client: ask_human,
    request_approval, request_interactive and check_answer. A client sees answers only to what it
    asked itself; CALLBOARD_MCP_KEY in its configuration tells it from others.
    """
    from platformdirs import user_state_path

    key = client_key(user_state_path("callboard", appauthor=False))
    here = Path.cwd()

    async def offer(board: Board) -> None:
        inbox = cast("Inbox", board.people)

        def tools(client: str) -> list[Tool]:
            return Asking(inbox, board.clock, owner(key, client, here), here).tools()

        await serve("callboard", tools, ABOUT)

    place.ask(offer)
