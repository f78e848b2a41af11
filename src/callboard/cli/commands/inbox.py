"""`callboard inbox`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import click

from callboard.board.conversations import before_question
from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.answer_commands import ways_to_answer
from callboard.cli.conversation import print_before
from callboard.cli.format import ago, moment, one_line
from callboard.cli.freshness import Freshness, freshness
from callboard.cli.lookup import find_question, find_session
from callboard.cli.printing import print_json
from callboard.cli.questions import print_lines, print_receipt, shown
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.assignments import assignment, restriction
from callboard.display.receipts import answerer, ending
from callboard.events.moments import from_ms
from callboard.interactions.assignment import ME, UNASSIGNED
from callboard.interactions.records import Interaction
from callboard.vendors.conversation import ConversationItem


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    question: str | None
    session: str | None
    mine: bool
    unassigned: bool
    workflow: str | None
    search: str | None
    full: bool
    place: Target
    as_json: bool

    @property
    def is_filtered(self) -> bool:
        """Whether only some questions are listed. Agents' terminals are then left out."""
        chosen = (self.question, self.session, self.workflow, self.search)
        return self.mine or self.unassigned or any(one is not None for one in chosen)

    @property
    def assigned_to(self) -> list[str] | None:
        """The assignees to filter by."""
        if self.unassigned:
            return [UNASSIGNED]
        # A server knows whose token it is.
        name = ME if self.place.watched else options.user_name()
        return [name or ME] if self.mine else None


class _Found(NamedTuple):
    """What is open."""

    questions: list[Interaction]
    now_ms: int
    in_terminals: list[Plate]
    """Dialogs of coding agents that only their own terminals can answer."""
    fresh: Freshness | None
    before: Sequence[ConversationItem] = ()
    """What led to the one question that is shown."""


@click.command("inbox")
@click.argument("question", metavar="[ID]", required=False)
@click.option("--session", metavar="ID", help="Filter by session.")
@click.option("--mine", is_flag=True, help="Only questions assigned to you or your groups.")
@click.option("--unassigned", is_flag=True, help="Only unassigned questions.")
@click.option("--workflow", metavar="NAME", help="Filter by workflow.")
@click.option("--search", metavar="TEXT", help="Only questions with this text in the prompt.")
@click.option("--full", is_flag=True, help="Show long questions in full.")
@options.anywhere
@options.collected(_Typed)
def command(typed: _Typed) -> None:
    """List open questions, or show one.

    Long questions are shortened to their first and last lines. With an ID, the question is
    shown even after it was answered, with the receipt of the answer: pending, delivered,
    overruled or lost; before an agent's open question, its last messages are shown.
    """
    if typed.mine and typed.unassigned:
        raise click.UsageError("Give --mine or --unassigned, not both.")
    place = typed.place
    found = place.look(lambda board: _look(board, typed))
    if typed.as_json:
        return print_json(one.to_wire() for one in found.questions)
    screen = Screen()
    if not found.questions and not found.in_terminals:
        screen.line("No matching questions." if typed.is_filtered else "No open questions.")
    print_before(screen, found.before)
    for one in found.questions:
        _tell(screen, place, one, found.now_ms, typed.full)
    if found.fresh is None:
        return None
    for one in found.in_terminals:
        _tell_terminal(screen, place, one, found.fresh)
    for note in found.fresh.notes(place, found.in_terminals, found.now_ms):
        screen.line((note, "faint"))
    return None


async def _look(board: Board, typed: _Typed) -> _Found:
    """One question, the matching ones, or all of them with what hooks reported without a server."""
    now_ms = board.clock.now_ms()
    if typed.question is not None:
        one = await find_question(board, typed.place, typed.question)
        before = [] if typed.as_json else await before_question(board.conversations, one)
        return _Found([one], now_ms, [], None, before)
    session = "*"
    if typed.session is not None:
        session = (await find_session(board, typed.place, typed.session)).session_id
    questions = await board.people.find(
        status="pending",
        session_id=session,
        workflow=typed.workflow,
        assigned_to=typed.assigned_to,
        q=typed.search,
    )
    if typed.is_filtered:
        return _Found(questions, now_ms, [], None)
    fresh = await freshness(typed.place, board)
    plates = await board.plates.all()
    waiting = [one for one in plates if one.waiting_for and one.interaction_id is None]
    return _Found(questions, now_ms, waiting, fresh)


def _tell_terminal(screen: Screen, place: Target, plate: Plate, fresh: Freshness) -> None:
    """Print a dialog that only the agent's own terminal can answer, because no server holds it."""
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
    if one.status == "pending" and (one.assigned_to or one.assignees):
        only = restriction(one.assignees)
        told = f"{assignment(one)}. {only.removesuffix('.')}" if only else assignment(one)
        screen.line((f"  {one_line(told)}", "faint"))
    if one.status == "pending" and one.accepted is None:
        for way in ways_to_answer(one, place.command):
            screen.line("    ", (way, "command"))
    elif one.from_hook:
        print_receipt(screen, place, one)
    else:
        _tell_end(screen, one)


def _tell_end(screen: Screen, one: Interaction) -> None:
    """Print how a workflow's question ended."""
    screen.line((f"{screen.signs.done} {ending(one)}", "done"))
    if who := answerer(one):
        screen.line((f"  {who}", "faint"))
