"""`callboard mcp`."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.targets import Target
from callboard.disk.files import add, read
from callboard.disk.private import make_private_folder
from callboard.harness.mcp_say import ABOUT_SAY, SayTools
from callboard.harness.mcp_tools import ABOUT, PersonTools, owner
from callboard.harness.protocol import Tool, serve

VARIABLE: Final = "CALLBOARD_MCP_KEY"

_BYTES: Final = 32
_LONGEST: Final = 4096


@click.command("mcp")
@click.option(
    "--allow",
    "powers",
    type=click.Choice(["say"]),
    multiple=True,
    help="Also let it write to other agents. You approve each message.",
)
@options.protocol
def command(place: Target, powers: tuple[str, ...]) -> None:
    """Run an MCP server with tools that let agents ask you questions.

    Uses standard input and output and works with any MCP client. The tools are ask_human,
    request_approval, request_interactive and check_answer; with `--allow say`, also list_agents,
    say and check_message. A client sees answers only to its own questions; set CALLBOARD_MCP_KEY
    in its configuration to identify it.
    """
    from platformdirs import user_state_path

    key = client_key(user_state_path("callboard", appauthor=False))
    here = Path.cwd()

    async def offer(board: Board) -> None:
        def tools(client: str) -> list[Tool]:
            person = PersonTools(board.people, board.clock, owner(key, client, here), here)
            more = SayTools(board, person, client).tools() if powers else []
            return [*person.tools(), *more]

        await serve("callboard", tools, f"{ABOUT} {ABOUT_SAY}" if powers else ABOUT)

    place.ask(offer)


def client_key(folder: Path) -> bytes:
    """The key from the client's configuration, or one for this person, created once."""
    given = os.environ.get(VARIABLE)
    if given:
        return given.encode()
    make_private_folder(folder)
    path = folder / "mcp.key"
    while True:
        with suppress(FileNotFoundError):
            found = read(path, _LONGEST)
            if len(found) == _BYTES:
                return found
            path.unlink()
        # The first process creates it; the others read that one.
        with suppress(FileExistsError):
            add(path, secrets.token_bytes(_BYTES))
