"""Questions in the terminal: their full text, who may answer, and the receipts."""

import json
import sys
from collections.abc import Mapping
from typing import Final

import click

from callboard.board.agent_processes import not_by_agents
from callboard.board.protocol import Board
from callboard.cli.exit import DONE, FAILED, WAITING
from callboard.cli.person import is_run_by_agent
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.lines import Bounds, Line, Look, visible
from callboard.display.questions import QuestionText, show
from callboard.display.receipts import answerer, receipt
from callboard.errors import Forbidden, ValidationError
from callboard.interactions.kinds import KINDS, is_from_board, manner_of
from callboard.interactions.outcomes import form_of
from callboard.interactions.records import Interaction, Receipt
from callboard.interactions.rulings import agreed
from callboard.vendors.rules import rules_of

_MOST_LINES: Final = 40
_LONGEST_LINE: Final = 400
_STYLES: Final[Mapping[Look, str]] = {
    "faint": "faint",
    "command": "name",
    "added": "done",
    "removed": "failed",
    "path": "command",
    "number": "command",
    "notice": "here",
}
_RECEIPTS: Final[Mapping[Receipt | None, tuple[int, str, str]]] = {
    "pending": (WAITING, "ahead", "here"),
    "delivered": (DONE, "done", "done"),
    "overruled": (FAILED, "failed", "failed"),
    "lost": (FAILED, "failed", "failed"),
    None: (DONE, "dot", "faint"),
}
"""A receipt → the exit code, the sign, and its style."""


def shown(place: Target, asked: Interaction, *, full: bool = False) -> QuestionText:
    """A question as `inbox` lists it; full: with every line."""
    command = place.command("inbox", asked.id, "--full")
    return show(asked, None if full else Bounds(_MOST_LINES, _LONGEST_LINE, command))


def print_lines(screen: Screen, lines: list[Line], indent: str = "  ") -> None:
    """Print a question's other lines."""
    for line in lines:
        lead = (f"{indent}{line.lead}", _STYLES.get(line.lead_look, ""))
        screen.line(lead, (line.text, _STYLES.get(line.look, "")))


def print_receipt(screen: Screen, place: Target, asked: Interaction) -> None:
    """Print the receipt of an answer to a coding agent, and whose answer it was."""
    said = receipt(asked, place.command("inbox", asked.id))
    _, sign, style = _RECEIPTS[asked.receipt]
    screen.line((f"{getattr(screen.signs, sign)} {said}", style))
    if who := answerer(asked):
        screen.line((f"  {who}", "faint"))


def exit_code(asked: Interaction) -> int:
    """0 if the agent got the answer, 1 if it didn't count, 3 while that isn't known."""
    return _RECEIPTS[asked.receipt][0]


async def check_answerer(board: Board, asked: Interaction) -> None:
    """Refuse to answer for a coding agent. Agents' questions can only be answered in a terminal."""
    if is_from_board(asked.type) and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Forbidden(
            f"{asked.type} {asked.id} needs a person, and this is not a terminal. Answer it in "
            "the dashboard, in `callboard board`, or in a terminal.",
            interaction_id=asked.id,
        )
    if await is_run_by_agent(board):
        raise not_by_agents(asked.id)


def confirm_yes(place: Target, asked: Interaction, *, always: bool) -> None:
    """Show everything that a yes would allow, if `inbox` shows only part of it, and confirm.

    This way no one allows what they haven't seen in full. An invalid answer is refused later.
    """
    if manner_of(asked.type) != "ruling":
        return
    was_shortened = shown(place, asked).shortened
    if was_shortened:
        # Standard output may be for a program.
        screen = Screen(sys.stderr)
        print_lines(screen, list(shown(place, asked, full=True).lines), indent="")
    if always:
        _confirm_rules(asked)
    elif was_shortened:
        _confirm("Allow all of this?" if asked.type == "permission" else "Approve all of this?")


def _confirm(question: str) -> None:
    """Ask for a yes at the terminal; anything else ends the command."""
    click.confirm(question, default=False, abort=True, err=True)


def _confirm_rules(asked: Interaction) -> None:
    """Show the rules that `--always` would create, and confirm."""
    rules = rules_of(asked.config) if asked.type == "permission" else []
    if not rules:
        raise ValidationError("The agent did not propose a rule. Remove --always.", field="always")
    screen = Screen(sys.stderr)
    screen.line("This changes the agent's settings, so that it no longer asks:")
    for rule in rules:
        screen.line(f"  {visible(f'{rule.does} {rule.where}'.strip(), keep='')}")
        for one in rule.exactly:
            screen.line((f"    {visible(one, keep='')}", "here"))
    _confirm("Always?")


def ruled(asked: Interaction, value: str, message: str | None, always: bool) -> object:
    """The value to send, from what was typed."""
    if manner_of(asked.type) == "answers":
        if always:
            raise ValidationError("--always needs a yes.", field="always")
        return _answers(asked, value)
    verdict: dict[str, object] = {"approved": agreed(value, None)}
    if message is not None:
        verdict[KINDS[asked.type].remark] = message
    return verdict | ({"always": True} if always else {})


def _answers(asked: Interaction, value: str) -> object:
    if not value.lstrip().startswith("{"):
        return meant(value, asked.options)
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValidationError(f"The answers are not valid JSON: {error}.", field="value") from error


def decision(typed: str, schema: object) -> object:
    """The decision as typed: JSON, or text. If text is expected, always text."""
    try:
        found = json.loads(typed)
    except ValueError:
        return typed
    needs_text = form_of(schema) in ("approval", "selection", "freeform")
    return typed if needs_text and not isinstance(found, str) else found


def meant(value: str, options: list[str] | None) -> str:
    """The option for a value: itself, or the one with this number."""
    if not options or value in options or not value.isdecimal():
        return value
    number = int(value)
    return options[number - 1] if 1 <= number <= len(options) else value
