"""Claude Code's prompt box: between the last two rules on its screen."""

import re
from typing import Final

from callboard.terminals.link import ShownScreen
from callboard.vendors.prompt_box import RULE, box_in, last_row

PASTES: Final = re.compile(r"\[Pasted text #\d+(?: \+\d+ lines)?\]")
"""What it shows instead of a long paste."""
_EMPTY: Final = re.compile(r'Try ".*"')


def read_box(screen: ShownScreen) -> str | None:
    """What is in its box; None if there is none, or it runs commands of a shell."""
    bottom = last_row(screen, RULE)
    top = last_row(screen, RULE, bottom) if bottom > 0 else -1
    return box_in(screen, range(top + 1, bottom), "❯ ", _EMPTY) if top >= 0 else None
