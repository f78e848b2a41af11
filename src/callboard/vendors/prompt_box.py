"""The box in which a person writes a prompt, as a client draws it. Pure.

Before anything is typed into it, it has to be there and empty: a paste into a dialog is swallowed,
and the Enter after it approves.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from callboard.terminals.link import ShownScreen

ReadBox = Callable[[ShownScreen], str | None]
"""What is in a client's box: "" if it is empty, None if there is no box, as during a dialog."""

_STARTS: Final = "\"'(*-"
"""What a text may start with besides letters and digits: no client takes it as a command."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COMPLETES: Final = re.compile(r"(?:^|\s)[@$/]\S*\Z")
_ESCAPE: Final = "Message: "
"""Before a text that would be a command. Clients ignore blanks there, and what can't be seen."""
RULE: Final = re.compile(r"─{20,}")
"""The start of a line that separates a box."""
_BLANK: Final = re.compile(r"[\s▀▄▔▁]*")


def typed(text: str) -> str:
    """A message as it is typed: never a command, a key, or an unfinished name that is completed."""
    text = _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    text = as_words(text)
    return f"{text} " if _COMPLETES.search(text) else text


def as_words(text: str) -> str:
    """A message that no client takes as a command."""
    first = text.lstrip()[:1]
    return text if first.isalnum() or first in _STARTS else f"{_ESCAPE}{text}"


def is_blank(line: str) -> bool:
    """Whether there is nothing to read in a line."""
    return _BLANK.fullmatch(line) is not None


def box_in(
    screen: ShownScreen, rows: Sequence[int], marker: str, empty: re.Pattern[str]
) -> str | None:
    """What is in the box that has these rows.

    marker: what the first row starts with. empty: what the client shows in an empty box, if
    anything. The cursor has to be in the box: only then does the client take keys there.
    """
    if not rows or screen.cursor[0] not in rows:
        return None
    first, *others = (screen.lines[row].replace("\N{NO-BREAK SPACE}", " ") for row in rows)
    if not f"{first} ".startswith(marker):
        return None
    indent = len(marker)
    text = "\n".join([first[indent:].strip(), *(one[indent:].rstrip() for one in others)]).rstrip()
    at_start = screen.cursor == (rows[0], indent)
    return "" if not text or (at_start and empty.fullmatch(text)) else text


def rows_above_footer(screen: ShownScreen, top: int) -> range:
    """The rows from `top` to the blank line that separates the client's own last lines."""
    end = len(screen.lines)
    while end > top and is_blank(screen.lines[end - 1]):
        end -= 1
    blanks = (row for row in range(end - 1, top, -1) if is_blank(screen.lines[row]))
    return range(top, next(blanks, end))


def last_row(screen: ShownScreen, pattern: re.Pattern[str], before: int | None = None) -> int:
    """The last row that starts like this; -1 if there is none."""
    rows = range(len(screen.lines) if before is None else before)
    found = (row for row in reversed(rows) if pattern.match(screen.lines[row]))
    return next(found, -1)


def shows(text: str, shown: str, pastes: re.Pattern[str]) -> bool:
    """Whether what is in a box is this text: all of it, its end, or a sign for a long paste."""
    if pastes.fullmatch(shown.strip()):
        return True
    ours, seen = letters(text), letters(shown)
    is_scrolled = shown.count("\n") >= _FULL and ours.endswith(seen)
    return bool(ours) and (ours == seen or is_scrolled)


_FULL: Final = 3
"""Line breaks in a box from which on it may show only the end of what is in it."""
_SCROLLED: Final = re.compile(r"[↑↓]$", re.MULTILINE)


def letters(text: str) -> str:
    """The text without what a box changes: line breaks, indents, marks of scrolling, and what
    can't be seen.
    """
    marked = _SCROLLED.sub("", text)
    return "".join(one for one in marked if one.isprintable() and not one.isspace())
