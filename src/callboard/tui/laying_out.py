"""Lines with something before them, broken so that nothing hangs out under it. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content


class Line(NamedTuple):
    """A text, how it looks, and what stands before it: an indent, a sign, a number."""

    text: str
    look: str = ""
    lead: str = ""
    lead_look: str = "$faint"


BLANK = Line("")


def laid_out(lines: Iterable[Line], width: int) -> Content:
    """Lines as one text of this width; what is too long goes on below its own beginning."""
    parts: list[tuple[str, str]] = []
    for text, look, lead, lead_look in lines:
        inner = max(8, width - cell_len(lead))
        for index, piece in enumerate(broken(text, inner)):
            before = lead if index == 0 else " " * cell_len(lead)
            parts += [(before, lead_look), (f"{piece}\n", look)]
    return Content.assemble(*parts).rstrip("\n")


def broken(text: str, width: int) -> Iterator[str]:
    """A line in pieces of at most so many cells; at a space where there is one.

    Not one character is lost but the space at which it was broken.
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
    """Where the part of a text ends that fits; at least one character does."""
    cells = 0
    for index in range(start, len(text)):
        cells += cell_len(text[index])
        if cells > width:
            return max(start + 1, index)
    return len(text)
