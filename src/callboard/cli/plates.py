"""`callboard plates`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from callboard.board.plate import Plate
from callboard.cli import options
from callboard.cli.places import Board, Place
from callboard.errors import ServerUnreachable
from callboard.events.moments import from_ms
from callboard.interactions.records import Interaction
from callboard.tui.rows import Row, counted, ordered, plate_of, plate_row, question_row, summary

if TYPE_CHECKING:
    from callboard.cli.printing import Cell

_ASKS = 60
_STYLES = {
    "needs": "asks",
    "failed": "failed",
    "done": "done",
    "running": "here",
    "idle": "",
    "closed": "faint",
}

Wire = Mapping[str, Any]


@click.command("plates")
@click.option("--all", "with_closed", is_flag=True, help="Those that are closed too.")
@click.option("--line", is_flag=True, help="One line for a status bar; nothing for an empty board.")
@options.anywhere
def command(with_closed: bool, line: bool, place: Place, as_json: bool) -> None:
    """List the sessions of coding agents.

    Who needs you comes first. With --line, questions of workflows count as well, and a server
    that is not there is no error: `2 need you · 3 running · 1 idle`.
    """
    if line:
        return _one_line(place)
    return _list(place, with_closed=with_closed, as_json=as_json)


def _list(place: Place, *, with_closed: bool, as_json: bool) -> None:
    # A status bar asks again and again, and does not wait for what draws tables.
    from callboard.cli.printing import print_json, print_table
    from callboard.cli.screen import Screen

    plates, questions, now_ms = place.ask(_look)
    rows = [row for row in ordered(rows_of(plates, questions)) if with_closed or not row.closed]
    if as_json:
        return print_json(row.plate for row in rows)
    screen = Screen()
    if not rows:
        screen.line(_nothing(len(plates)))
        return None
    titles = ["plate", "status", "project", "asks", "tool", "todo", "branch", "agent", "heard"]
    print_table(screen, titles, [_cells(row, now_ms) for row in rows])
    return None


def _one_line(place: Place) -> None:
    try:
        plates, questions = place.ask(_look_at_all)
    except ServerUnreachable:
        return
    asked = [question_row(one) for one in questions if plate_of(one) is None]
    told = summary(counted([*rows_of(plates, questions), *asked]))
    if told:
        click.echo(told)


async def _look(board: Board) -> tuple[list[Wire], list[Interaction], int]:
    plates, questions = await _look_at_all(board)
    return plates, questions, board.clock.now_ms()


def rows_of(plates: Sequence[Wire], questions: Sequence[Interaction]) -> list[Row]:
    """The rows of plates; answers that an agent has not confirmed yet are among them."""
    asked: dict[str | None, list[Interaction]] = {}
    for one in questions:
        asked.setdefault(plate_of(one), []).append(one)
    return [plate_row(plate, asked.get(plate["plateId"], ())) for plate in plates]


async def _look_at_all(board: Board) -> tuple[list[Wire], list[Interaction]]:
    return [wire(plate) for plate in await board.plates.all()], await board.inbox()


def wire(plate: Any) -> Wire:
    """A plate as JSON readers see it: a server gives it so, a database does not."""
    return plate.to_wire() if isinstance(plate, Plate) else plate


def _cells(row: Row, now_ms: int) -> "list[Cell]":
    from callboard.cli.wording import ago, one_line

    standing = row.standing
    return [
        str((row.plate or {})["plateId"]),
        (f"{standing.sign} {standing.word}", _STYLES[standing.look]),
        row.title,
        one_line(row.asks, _ASKS),
        row.tool,
        row.todo,
        row.branch,
        row.agent,
        ago(from_ms(row.at_ms), from_ms(now_ms)),
    ]


def _nothing(closed: int) -> str:
    if closed:
        return f"All are closed ({closed}). Show them: callboard plates --all"
    return "There is no session of a coding agent yet. Let them report: callboard hooks install"
