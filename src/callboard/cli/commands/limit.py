"""`callboard limit [NAME] [NUMBER]`."""

from collections.abc import Sequence

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.errors import NotFound
from callboard.events.limits import MOST, AgentLimit, AgentSlot
from callboard.events.moments import from_ms


@click.command("limit")
@click.argument("name", required=False)
@click.argument("number", type=click.IntRange(0, MOST), required=False)
@click.option("--remove", is_flag=True, help="Remove the limit's number.")
@options.anywhere
def command(
    name: str | None, number: int | None, remove: bool, place: Target, as_json: bool
) -> None:
    """Show or change how many agents of a kind run at once.

    A phase names its limit: Phase(..., limit="openai"). `callboard limit openai 8` lets at most 8
    agents of such phases run at once, in all processes that use the database; the others wait for
    their turn. Without NUMBER, this shows who has a slot and who waits; without NAME, all limits.
    """
    if remove and (name is None or number is not None):
        raise click.UsageError("Give --remove with a name and no number.")
    if name is None:
        return _list(place, as_json)
    if number is None and not remove:
        return _show(place, name, as_json)

    async def change(board: Board) -> AgentLimit:
        return await (
            board.limits.remove(name) if number is None else board.limits.set(name, number)
        )

    changed = place.ask(change)
    if as_json:
        return print_json([changed.to_wire()])
    if number is None:
        return Screen().line(f"{one_line(name)} is not limited anymore.")
    return Screen().line(f"{one_line(name)}: {_use(changed)}.")


def _list(place: Target, as_json: bool) -> None:
    async def look(board: Board) -> list[AgentLimit]:
        return await board.limits.list()

    found, screen = place.look(look), Screen()
    if as_json:
        return print_json(one.to_wire() for one in found)
    if not found:
        example = (place.command("limit", "NAME", "8"), "command")
        return screen.line("No limits yet. Name one in a phase, and set its number: ", example)
    heads = ["limit", "agents", "in use", "waiting", "sessions"]
    return print_table(screen, heads, [_row(one) for one in found])


def _row(limit: AgentLimit) -> list[Cell]:
    number = "no limit" if limit.number is None else str(limit.number)
    using = dict.fromkeys(one.session_id for one in limit.slots if not one.waiting)
    waiting: Cell = (str(limit.waiting), "waiting") if limit.waiting else "0"
    return [one_line(limit.name), number, str(limit.in_use), waiting, _some([*using])]


def _some(sessions: Sequence[str]) -> str:
    more = f" and {len(sessions) - 3} more" if len(sessions) > 3 else ""
    return ", ".join(sessions[:3]) + more if sessions else "none"


def _show(place: Target, name: str, as_json: bool) -> None:
    async def look(board: Board) -> tuple[list[AgentLimit], int]:
        return await board.limits.list(), board.clock.now_ms()

    limits, now_ms = place.look(look)
    found = next((one for one in limits if one.name == name), None)
    if found is None:
        raise NotFound(
            f"No limit {name!r} is set or in use. List the limits: {place.command('limit')}",
            name=name,
        )
    if as_json:
        return print_json([found.to_wire()])
    screen = Screen()
    screen.line(f"{one_line(name)}: {_use(found)}.")
    if not found.slots:
        return None
    heads = ["session", "agent", "", "since"]
    return print_table(screen, heads, [_slot(one, now_ms) for one in found.slots])


def _use(limit: AgentLimit) -> str:
    most = (
        "no limit" if limit.number is None else f"at most {counted(limit.number, 'agent')} at once"
    )
    return f"{most}, {limit.in_use} in use, {limit.waiting} waiting"


def _slot(slot: AgentSlot, now_ms: int) -> list[Cell]:
    how: Cell = ("waiting", "waiting") if slot.waiting else ("running", "running")
    return [slot.session_id, one_line(slot.run), how, ago(from_ms(slot.since), from_ms(now_ms))]
