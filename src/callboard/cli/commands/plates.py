"""`callboard plates`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.board.relay_hosts import RelayHost
from callboard.cli import options
from callboard.cli.freshness import Freshness, freshness
from callboard.cli.targets import Target
from callboard.errors import ServerUnreachable
from callboard.events.moments import from_ms, iso
from callboard.interactions.records import Interaction
from callboard.tui.rows import Row, counted, ordered, plate_of, plate_row, question_row, summary
from callboard.tui.whereabouts import unreachable, whereabouts

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


@click.command("plates")
@click.option("--all", "with_closed", is_flag=True, help="Include closed ones.")
@click.option(
    "--line", is_flag=True, help="Print one line for a status bar; nothing if the board is empty."
)
@options.anywhere
def command(with_closed: bool, line: bool, place: Target, as_json: bool) -> None:
    """List coding agents, those that need you first.

    With --line, workflow questions are counted too, and a missing server is not an error: `2 need
    you · 3 running · 1 idle`.
    """
    if line:
        return _one_line(place)
    return _list(place, with_closed=with_closed, as_json=as_json)


def _list(place: Target, *, with_closed: bool, as_json: bool) -> None:
    # A status bar asks often, and shouldn't wait for the import of what draws tables.
    from callboard.cli.printing import print_json, print_table
    from callboard.cli.screen import Screen

    seen = place.look(partial(_look, place, with_hosts=True))
    plates, questions, now_ms = seen.plates, seen.questions, seen.now_ms
    found = ordered(rows_of(plates, questions, seen.hosts))
    rows = [row for row in found if with_closed or not row.closed]
    if as_json:
        return print_json(_document(row, row.plate) for row in rows if row.plate)
    screen = Screen()
    if not rows:
        screen.line(_nothing(place, len(plates)))
    else:
        # One machine needs no column.
        host = ["host"] if any(row.host for row in rows) else []
        titles = ["plate", "status", "project", *host, "asks", "tool", "todo", "branch", "agent"]
        cells = [_cells(row, now_ms, shows_host=bool(host)) for row in rows]
        print_table(screen, [*titles, "heard"], cells)
    for note in seen.freshness.notes(place, plates, now_ms):
        screen.line((note, "faint"))
    return None


def _one_line(place: Target) -> None:
    try:
        seen = place.look(partial(_look, place))
    except ServerUnreachable:
        return
    asked = [question_row(one) for one in seen.questions if plate_of(one) is None]
    told = summary(counted([*rows_of(seen.plates, seen.questions), *asked]))
    if told:
        click.echo(told)


@dataclass(frozen=True, slots=True)
class _Seen:
    freshness: Freshness
    plates: list[Plate]
    questions: list[Interaction]
    hosts: list[RelayHost]
    now_ms: int


async def _look(place: Target, board: Board, *, with_hosts: bool = False) -> _Seen:
    fresh = await freshness(place, board)
    plates, questions = await board.plates.all(), await board.inbox()
    hosts = await board.hosts.list() if with_hosts else []
    return _Seen(fresh, plates, questions, hosts, board.clock.now_ms())


def rows_of(
    plates: Sequence[Plate], questions: Sequence[Interaction], hosts: Sequence[RelayHost] = ()
) -> list[Row]:
    """The rows of plates, including answers that an agent hasn't confirmed yet."""
    asked: dict[str | None, list[Interaction]] = {}
    for one in questions:
        asked.setdefault(plate_of(one), []).append(one)
    places = whereabouts(plates, hosts)
    return [
        plate_row(plate, asked.get(plate.plate_id, ()), place=places[plate.plate_id])
        for plate in plates
    ]


def _document(row: Row, plate: Plate) -> dict[str, object]:
    lost_at = row.place.lost_at_ms
    return {
        **plate.to_wire(),
        "unreachableSince": None if lost_at is None else iso(from_ms(lost_at)),
    }


def _cells(row: Row, now_ms: int, *, shows_host: bool) -> "list[Cell]":
    from callboard.cli.format import ago, one_line

    standing, lost_at = row.standing, row.place.lost_at_ms
    lost = "" if lost_at is None else unreachable(ago(from_ms(lost_at), from_ms(now_ms)))
    return [
        row.plate.plate_id if row.plate else "",
        (f"{standing.sign} {standing.word}", "faint" if lost else _STYLES[standing.look]),
        row.title,
        *([row.host] if shows_host else []),
        " · ".join(said for said in (lost, one_line(row.asks, _ASKS)) if said),
        row.tool,
        row.todo,
        row.branch,
        row.agent,
        ago(from_ms(row.at_ms), from_ms(now_ms)),
    ]


def _nothing(place: Target, closed: int) -> str:
    if closed:
        return f"All agents are closed ({closed}). Show them: {place.command('plates', '--all')}"
    install = place.database_command("hooks", "install")
    return f"No coding agents yet. Connect them: {install}"
