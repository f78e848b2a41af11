"""`callboard export ID`."""

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.targets import Target
from callboard.display.session_export import FORMATS


@click.command("export")
@click.argument("session", metavar="ID")
@click.option(
    "--format",
    "format",
    type=click.Choice(list(FORMATS)),
    default="markdown",
    show_default=True,
    help="The format; --json is the same as --format json.",
)
@click.option(
    "--output",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of standard output.",
)
@options.anywhere
def command(session: str, format: str, target: Path | None, place: Target, as_json: bool) -> None:
    """Export a session with all its events, as Markdown or JSON."""

    async def act(board: Board) -> None:
        info = await find_session(board, place, session)
        pieces = board.export(info.session_id, format="json" if as_json else format)
        if target is None:
            await _copy(pieces, sys.stdout.buffer.write)
            sys.stdout.buffer.flush()
        else:
            with target.open("wb") as file:
                await _copy(pieces, file.write)

    place.look(act)


async def _copy(pieces: AsyncIterator[bytes], write: Callable[[bytes], object]) -> None:
    async for piece in pieces:
        write(piece)
