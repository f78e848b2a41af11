"""Questions in the terminal: every line of one, and what became of its answer."""

import sys
from collections.abc import Mapping
from typing import Final

import click

from callboard.cli.exits import DONE, FAILED, WAITING
from callboard.cli.places import Place
from callboard.cli.screen import Screen
from callboard.display.lines import Bounds, Line, Look
from callboard.display.questions import Shown, show
from callboard.display.receipts import answerer, receipt
from callboard.interactions.records import Interaction, Receipt

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
_EXITS: Final[Mapping[Receipt, int]] = {
    "pending": WAITING,
    "delivered": DONE,
    "overruled": FAILED,
    "lost": FAILED,
}


def shown(place: Place, asked: Interaction, *, full: bool = False) -> Shown:
    """A question as `inbox` lists it; full: with every line."""
    command = place.command("inbox", asked.id, "--full")
    return show(asked, None if full else Bounds(_MOST_LINES, _LONGEST_LINE, command))


def print_lines(screen: Screen, lines: list[Line], indent: str = "  ") -> None:
    """Print lines of a question below its first."""
    for line in lines:
        lead = (f"{indent}{line.lead}", _STYLES.get(line.lead_look, ""))
        screen.line(lead, (line.text, _STYLES.get(line.look, "")))


def confirm_whole(place: Place, asked: Interaction) -> bool:
    """Show all that a yes would allow, where `inbox` shows only part; whether that was so."""
    if not shown(place, asked).shortened:
        return False
    # Standard output may be for a program.
    screen = Screen(sys.stderr)
    print_lines(screen, list(shown(place, asked, full=True).lines), indent="")
    return True


def confirm(question: str) -> None:
    """Ask for a yes at the terminal; anything else ends the command."""
    click.confirm(question, default=False, abort=True, err=True)


def print_receipt(screen: Screen, place: Place, asked: Interaction) -> None:
    """Say what became of an answer to a coding agent, and whose it was."""
    said = receipt(asked, place.command("inbox", asked.id))
    sign, style = _SIGNS.get(asked.receipt, ("dot", "faint"))
    screen.line((f"{getattr(screen.signs, sign)} {said}", style))
    if who := answerer(asked):
        screen.line((f"  {who}", "faint"))


_SIGNS: Final[Mapping[Receipt | None, tuple[str, str]]] = {
    "pending": ("ahead", "here"),
    "delivered": ("done", "done"),
    "overruled": ("failed", "failed"),
    "lost": ("failed", "failed"),
}


def exit_code(asked: Interaction) -> int:
    """0 when the agent got the answer, 1 when it did not count, 3 while that is not known."""
    return DONE if asked.receipt is None else _EXITS[asked.receipt]
