"""`callboard events ID`."""

from collections.abc import Mapping

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import preview
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.events.envelope import Event

_PREVIEW = 200
_FAILURES = ("failed", "cancelled", "expired", "interrupted", "held")


@click.command("events")
@click.argument("session", metavar="ID")
@click.option(
    "--after", type=click.IntRange(min=0), default=0, help="Only events after this position."
)
@click.option("--limit", type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--follow", "-f", is_flag=True, help="Follow new events until the session ends.")
@options.anywhere
def command(
    session: str, after: int, limit: int | None, follow: bool, place: Target, as_json: bool
) -> None:
    """List the events of a session."""
    screen = Screen()

    def show(event: Event) -> None:
        if as_json:
            print_json([event.to_wire()])
        else:
            _tell(screen, event)

    async def look(board: Board) -> None:
        session_id = (await find_session(board, place, session)).session_id
        if not follow:
            for event in await board.events(session_id, after, limit):
                show(event)
            return
        left = limit
        async for event in board.tail(session_id, after):
            show(event)
            left = None if left is None else left - 1
            if left == 0:
                return

    place.look(look)


def _tell(screen: Screen, event: Event) -> None:
    at = event.timestamp.astimezone().strftime("%H:%M:%S.%f")[:-3]
    style = "failed" if event.name.endswith(_FAILURES) else "name"
    screen.line(
        (f"{event.position:>4}  {at}  ", "faint"),
        (f"{preview(event.name):<18}", style),
        ("  " + _summary(event.payload), ""),
    )


def _summary(payload: Mapping[str, object]) -> str:
    known = (f"{key}={preview(value, 60)}" for key, value in payload.items() if value is not None)
    return preview("  ".join(known), _PREVIEW)
