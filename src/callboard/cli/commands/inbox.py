"""`callboard inbox`."""

import click

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.diagnosis import ways_to_answer
from callboard.cli.format import ago, moment, one_line
from callboard.cli.freshness import Freshness, freshness
from callboard.cli.lookup import find_question, find_session
from callboard.cli.printing import print_json
from callboard.cli.questions import print_lines, print_receipt, shown
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.receipts import answerer, ending
from callboard.events.moments import from_ms
from callboard.interactions.records import Interaction


@click.command("inbox")
@click.argument("question", metavar="[ID]", required=False)
@click.option("--session", "session", metavar="ID", help="Filter by session.")
@click.option("--full", is_flag=True, help="Show long questions in full.")
@options.anywhere
def command(
    question: str | None, session: str | None, full: bool, place: Target, as_json: bool
) -> None:
    """List open questions, or show one.

    Long questions are shortened to their first and last lines. With an ID, the question is
    shown even after it was answered, with the receipt of the answer: pending, delivered,
    overruled or lost.
    """

    if question is None and session is None:
        return _list_all(place, full=full, as_json=as_json)

    async def look(board: Board) -> tuple[list[Interaction], int]:
        if question is not None:
            return [await find_question(board, place, question)], board.clock.now_ms()
        assert session is not None
        which = (await find_session(board, place, session)).session_id
        return await board.inbox(which), board.clock.now_ms()

    found, now_ms = place.look(look)
    if as_json:
        return print_json(one.to_wire() for one in found)
    screen = Screen()
    if not found:
        screen.line("No open questions.")
    for one in found:
        _tell(screen, place, one, now_ms, full)
    return None


def _list_all(place: Target, *, full: bool, as_json: bool) -> None:
    """What waits for a person, coding agents included whose hooks no server has read."""

    async def look(board: Board) -> tuple[Freshness, list[Plate], list[Interaction], int]:
        fresh = await freshness(place, board)
        return fresh, await board.plates.all(), await board.inbox(), board.clock.now_ms()

    fresh, plates, found, now_ms = place.look(look)
    if as_json:
        return print_json(one.to_wire() for one in found)
    screen = Screen()
    in_terminals = [one for one in plates if one.waiting_for and one.interaction_id is None]
    if not found and not in_terminals:
        screen.line("No open questions.")
    for one in found:
        _tell(screen, place, one, now_ms, full)
    for one in in_terminals:
        _tell_terminal(screen, place, one, fresh)
    for note in fresh.notes(place, in_terminals, now_ms):
        screen.line((note, "faint"))
    return None


def _tell_terminal(screen: Screen, place: Target, plate: Plate, fresh: Freshness) -> None:
    """A dialog that only the agent's own terminal can answer, as long as no server holds it."""
    screen.line((f"{screen.signs.asks} {one_line(plate.waiting_for or '')}", "asks"))
    where = f"{plate.agent} in {one_line(plate.project_path)}"
    screen.line((f"  {where}. Answer in its terminal.", "faint"))
    if not fresh.is_watched:
        screen.line("    To answer here, start a server: ", (place.command("serve"), "command"))


def _tell(screen: Screen, place: Target, one: Interaction, now_ms: int, full: bool) -> None:
    now = from_ms(now_ms)
    where = f"phase {one_line(one.phase)}, " if one.phase else ""
    where += f"session {one.session_id}, " if one.session_id else ""
    until = f", until {moment(one.deadline, now)}" if one.deadline else ""
    about = f"  {where}asked {ago(one.created_at, now)}{until}"
    first, *others = shown(place, one, full=full).lines
    screen.line((f"{screen.signs.asks} {first.text}", "asks"))
    print_lines(screen, others)
    screen.line((about, "faint"))
    if one.status == "pending" and one.accepted is None:
        for way in ways_to_answer(one, place.command):
            screen.line("    ", (way, "command"))
    elif one.from_hook:
        print_receipt(screen, place, one)
    else:
        _tell_end(screen, one)


def _tell_end(screen: Screen, one: Interaction) -> None:
    """How a question of a workflow ended."""
    screen.line((f"{screen.signs.done} {ending(one)}", "done"))
    if who := answerer(one):
        screen.line((f"  {who}", "faint"))
