"""`callboard sessions`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import STATUS, Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.engine.sessions import SessionInfo
from callboard.events.moments import from_ms

_TITLE = 40
"""Characters of a title that leave room for the other columns."""


@click.command("sessions")
@click.option("--status", type=click.Choice(list(STATUS)), help="Filter by status.")
@click.option("--workflow", metavar="NAME", help="Filter by workflow.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Maximum number to list.",
)
@options.anywhere
def command(
    status: str | None, workflow: str | None, limit: int, place: Target, as_json: bool
) -> None:
    """List sessions, newest first."""

    async def look(board: Board) -> tuple[list[SessionInfo], int]:
        found = await board.sessions(status=status, workflow=workflow, limit=limit)
        return found, board.clock.now_ms()

    found, now_ms = place.look(look)
    if as_json:
        return print_json(info.to_wire() for info in found)
    screen = Screen()
    if not found:
        none = "No matching sessions." if status or workflow else "No sessions yet."
        screen.line(f"{none} Start one: {place.command('run', 'FILE')}")
        return None
    titled = any(info.title for info in found)
    columns = ["session", "status", "workflow", *(["title"] if titled else []), "phase", "started"]
    print_table(screen, columns, [_row(screen, info, now_ms, titled) for info in found])
    if len(found) == limit:
        screen.line((f"The newest {counted(limit, 'session')}; more with --limit", "faint"))
    return None


def _row(screen: Screen, info: SessionInfo, now_ms: int, titled: bool) -> list[Cell]:
    return [
        info.session_id,
        screen.status(info.status),
        one_line(info.workflow),
        *([one_line(info.title or "", _TITLE)] if titled else []),
        one_line(info.phase or ""),
        ago(info.created_at, from_ms(now_ms)),
    ]
