"""A grid to draw lines and text on. Lines that meet are joined with the right character."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Stroke = Literal["dashed", "light", "heavy"]
Segment = tuple[str, str]
"""Text and the name of its style."""

_WEIGHT = {"dashed": 1, "light": 1, "heavy": 2}
_UP, _RIGHT, _DOWN, _LEFT = range(4)


@dataclass(slots=True)
class _Cell:
    arms: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    dashed: bool = True
    style: str = ""
    char: str | None = None


class Canvas:
    """Rows and columns from 0; drawing in the same place joins or replaces."""

    def __init__(self, *, unicode: bool = True) -> None:
        self._unicode = unicode
        self._cells: dict[tuple[int, int], _Cell] = {}

    def text(self, row: int, column: int, text: str, style: str = "") -> None:
        """Write text; wide characters take two columns."""
        for char in text:
            # Zero-width characters, such as accents, belong to the character before.
            before = self._cells.get((row, column - 1))
            if not cells(char) and before is not None and before.char:
                before.char += char
                continue
            for offset in range(cells(char)):
                self._cells[row, column + offset] = _Cell(char="" if offset else char, style=style)
            column += cells(char)

    def vertical(self, column: int, top: int, bottom: int, stroke: Stroke, style: str = "") -> None:
        """Draw a line down a column, both ends included."""
        for row in range(top, bottom + 1):
            arms = [_DOWN] * (row < bottom) + [_UP] * (row > top)
            self._draw((row, column), arms, stroke, style)

    def horizontal(
        self,
        row: int,
        left: int,
        right: int,
        stroke: Stroke,
        style: str = "",
        under: Collection[int] = (),
    ) -> None:
        """Draw a line along a row, both ends included, passing under the given columns."""
        for column in range(left, right + 1):
            if column not in under:
                arms = [_RIGHT] * (column < right) + [_LEFT] * (column > left)
                self._draw((row, column), arms, stroke, style)

    def box(self, row: int, column: int, width: int, stroke: Stroke, style: str = "") -> None:
        """Draw a box with two lines of room inside."""
        bottom, right = row + 3, column + width - 1
        for side in (column, right):
            self.vertical(side, row, bottom, stroke, style)
        for edge in (row, bottom):
            self.horizontal(edge, column, right, stroke, style)

    def _draw(self, at: tuple[int, int], arms: list[int], stroke: Stroke, style: str) -> None:
        cell = self._cells.setdefault(at, _Cell())
        weight = _WEIGHT[stroke]
        if weight >= max(cell.arms):
            cell.style = style
        for arm in arms:
            cell.arms[arm] = max(cell.arms[arm], weight)
        cell.dashed = cell.dashed and stroke == "dashed"

    def lines(self) -> list[list[Segment]]:
        """The drawing, row by row, without trailing spaces."""
        height = max((row for row, _ in self._cells), default=-1) + 1
        return [self._line(row) for row in range(height)]

    def _line(self, row: int) -> list[Segment]:
        segments: list[Segment] = []
        width = max((column for at, column in self._cells if at == row), default=-1) + 1
        for column in range(width):
            cell = self._cells.get((row, column), _Cell(char=" "))
            char = self._glyph(cell) if cell.char is None else cell.char
            if segments and segments[-1][1] == cell.style:
                segments[-1] = (segments[-1][0] + char, cell.style)
            else:
                segments.append((char, cell.style))
        return segments

    def _glyph(self, cell: _Cell) -> str:
        arms = (cell.arms[0], cell.arms[1], cell.arms[2], cell.arms[3])
        if not self._unicode:
            return _ascii(arms, dashed=cell.dashed)
        if cell.dashed and arms in ((0, 1, 0, 1), (1, 0, 1, 0)):
            return "┄" if arms[_RIGHT] else "┆"
        return _glyphs()[arms]


def _ascii(arms: tuple[int, int, int, int], *, dashed: bool) -> str:
    heavy = max(arms) == 2
    if not arms[_UP] and not arms[_DOWN]:
        return "=" if heavy else "." if dashed else "-"
    if not arms[_LEFT] and not arms[_RIGHT]:
        return "#" if heavy else ":" if dashed else "|"
    return "#" if heavy else "." if dashed else "+"


_DIRECTIONS = {
    "UP": (_UP,),
    "RIGHT": (_RIGHT,),
    "DOWN": (_DOWN,),
    "LEFT": (_LEFT,),
    "VERTICAL": (_UP, _DOWN),
    "HORIZONTAL": (_LEFT, _RIGHT),
}


@cache
def _glyphs() -> dict[tuple[int, ...], str]:
    """The weights of the four arms → the character, derived from the characters' own names."""
    found: dict[tuple[int, ...], str] = {}
    for code in range(0x2500, 0x2580):
        words = unicodedata.name(chr(code)).removeprefix("BOX DRAWINGS ").split()
        if set(words) <= {*_DIRECTIONS, "LIGHT", "HEAVY", "AND"}:
            found[_arms(words)] = chr(code)
    return found


def _arms(words: list[str]) -> tuple[int, ...]:
    arms = [0, 0, 0, 0]
    weight = 2 if words[0] == "HEAVY" else 1
    waiting: list[int] = []
    for word in words:
        if word in _DIRECTIONS:
            waiting += _DIRECTIONS[word]
            for arm in _DIRECTIONS[word]:
                arms[arm] = weight
        elif word in ("LIGHT", "HEAVY"):
            # "UP HEAVY AND RIGHT LIGHT": the weight comes after the arms.
            for arm in waiting:
                arms[arm] = 2 if word == "HEAVY" else 1
            waiting = []
    return tuple(arms)


def cells(text: str) -> int:
    """The number of terminal columns that a text takes."""
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, width: int, more: str = "…") -> str:
    """The text in at most this many columns, with a sign if it was cut off."""
    if cells(text) <= width:
        return text
    while text and cells(text) + cells(more) > width:
        text = text[:-1]
    return text + more
