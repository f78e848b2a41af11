"""Gemini CLI's prompt box: below the last rule, from its marker to the line above its footer."""

import re
from typing import Final

from callboard.terminals.link import ShownScreen
from callboard.vendors.prompt_box import RULE, box_in, last_row, rows_above_footer

PASTES: Final = re.compile(r"\[Pasted Text: \d+ (?:lines|chars)\](?: #\d+)?")
"""What it shows instead of a long paste."""
_EMPTY: Final = re.compile(r"\s*Type your message or @path/to/file")
_MARKER: Final = re.compile(r" [>*] ")
_BUSY: Final = re.compile(r"\(esc to cancel")


def read_box(screen: ShownScreen) -> str | None:
    """What is in its box; None if there is none, or it runs commands of a shell."""
    top = last_row(screen, _MARKER)
    if top <= last_row(screen, RULE):
        return None
    rows = rows_above_footer(screen, top)
    return box_in(screen, rows, screen.lines[top][:3], _EMPTY)


def is_busy(screen: ShownScreen) -> bool:
    """Whether a turn is running: what it does is shown just above the rule."""
    rule = max(0, last_row(screen, RULE))
    return any(_BUSY.search(line) for line in screen.lines[max(0, rule - _NEAR) : rule])


_NEAR: Final = 3
