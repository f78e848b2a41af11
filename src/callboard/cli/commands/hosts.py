"""`callboard hosts`."""

import click

from callboard.board.protocol import Board
from callboard.board.relay_hosts import RelayHost
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.events.moments import from_ms


@click.command("hosts")
@options.anywhere
def command(place: Target, as_json: bool) -> None:
    """List the machines whose coding agents are on the board.

    Machines that can't be reached are listed with when they were last seen.
    """

    async def look(board: Board) -> tuple[list[RelayHost], int]:
        return await board.hosts.list(), board.clock.now_ms()

    found, now_ms = place.look(look)
    if as_json:
        return print_json(one.to_wire() for one in found)
    screen = Screen()
    if not found:
        return screen.line(
            "No other machine is paired. Make a code: ", ("callboard pair", "command")
        )
    rows = [_row(screen, one, now_ms) for one in found]
    return print_table(screen, ["machine", "status", "last seen", "version", "id"], rows)


def _row(screen: Screen, one: RelayHost, now_ms: int) -> list[Cell]:
    status: Cell = (f"{screen.signs.done} connected", "done")
    seen = "now"
    if not one.connected:
        status = (f"{screen.signs.failed} unreachable", "failed")
        seen = ago(from_ms(one.seen_at), from_ms(now_ms))
    return [one_line(one.name), status, seen, one_line(one.version), (one.id, "faint")]
