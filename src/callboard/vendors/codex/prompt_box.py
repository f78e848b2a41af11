"""Codex's prompt box: from the last line that starts with `›` to the blank one above its footer."""

import re
from typing import Final

from callboard.terminals.link import ShownScreen
from callboard.vendors.prompt_box import box_in, last_row, rows_above_footer

PASTES: Final = re.compile(r"\[Pasted Content \d+ chars\](?: #\d+)?")
"""What it shows instead of a long paste."""
_EMPTY: Final = re.compile(r"Ask Codex to do anything")
_MARKER: Final = re.compile(r"›(?: |$)")


def read_box(screen: ShownScreen) -> str | None:
    """What is in its box; None if there is none. In a dialog, the cursor isn't at the `›`."""
    top = last_row(screen, _MARKER)
    return box_in(screen, rows_above_footer(screen, top), "› ", _EMPTY) if top >= 0 else None
