"""Text as the board shows it: without hidden characters, and no wider than its place."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len, set_cell_size

from callboard.display.lines import collapsed, one_line, text_lines

if TYPE_CHECKING:
    from textual.content import Content

_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "m"))


def lines(text: str) -> list[str]:
    """The lines of a text, with control characters made visible."""
    return [line.text for line in collapsed(text_lines(text))]


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """A line of exactly this many cells: padded, or cut off with …."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    filling = " " * (width - length)
    return filling + text if right else text + filling


def age(at_ms: int, now_ms: int) -> str:
    """How long ago, in one unit and at most four cells."""
    seconds = max(0, now_ms - at_ms) // 1000
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def home_path(path: str) -> str:
    """A path, with ~ for the home folder."""
    home = str(Path.home())
    inside = path == home or path.startswith(home + "/")
    return one_line("~" + path[len(home) :] if inside else path)


def clipped(text: str, limit: int) -> list[str]:
    """At most this many lines; the last one says how many more there are."""
    all_lines = lines(text)
    if len(all_lines) <= limit:
        return all_lines
    left = len(all_lines) - limit + 1
    return [*all_lines[: limit - 1], f"… {left} more lines"]


class StyledLine(NamedTuple):
    """A text, its style, and what comes before it: an indent, a sign, a number."""

    text: str
    look: str = ""
    lead: str = ""
    lead_look: str = "$faint"


BLANK = StyledLine("")


def laid_out(lines: Iterable[StyledLine], width: int) -> "Content":
    """Lines as one text of this width; long lines continue below their own start."""
    from textual.content import Content  # `callboard plates` lists rows without textual.

    parts: list[tuple[str, str]] = []
    for text, look, lead, lead_look in lines:
        inner = max(8, width - cell_len(lead))
        for index, piece in enumerate(broken(text, inner)):
            before = lead if index == 0 else " " * cell_len(lead)
            parts += [(before, lead_look), (f"{piece}\n", look)]
    return Content.assemble(*parts).rstrip("\n")


def broken(text: str, width: int) -> Iterator[str]:
    """A line in pieces of at most this many cells, broken at spaces if possible.

    Nothing is lost except the space at a break.
    """
    start = 0
    while (end := _fitting(text, start, width)) < len(text):
        at = text.rfind(" ", start + 1, end + 1)
        if at - start > width // 3:
            yield text[start:at]
            start = at + 1
        else:
            yield text[start:end]
            start = end
    yield text[start:]


def _fitting(text: str, start: int, width: int) -> int:
    """The end of the part that fits; at least one character does."""
    cells = 0
    for index in range(start, len(text)):
        cells += cell_len(text[index])
        if cells > width:
            return max(start + 1, index)
    return len(text)
