"""The screen of a terminal, as far as agents use one: what a person would see in it now.

It is fed with what an agent prints. A person who attaches later is shown it, and programs read it.
Unknown sequences change nothing.
"""

import codecs
import re
from collections.abc import Callable, Mapping
from typing import Final

from callboard.terminals.grid import Grid

LARGEST: Final = 500
"""Rows or columns."""
_LONGEST_SEQUENCE: Final = 65_536
_MOST_REPLIES: Final = 4096
_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)"
    r"|\x1b\[(?P<parameters>[0-?]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]PX^_][^\x1b\x07]*)(?:\x07|\x1b\\)"
    r"|\x1b(?P<escape>[ -/]*[0-OQ-WYZ\\`-~])"
    r"|(?P<plain>[\x00-\x1a\x1c-\x1f\x7f])"
)
_INCOMPLETE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[ -/]*|[\]PX^_][^\x1b\x07]*\x1b?)")
_ALTERNATES: Final = ("47", "1047", "1049")

_Numbers = tuple[int, int]
_CONTROLS: Final[Mapping[str, Callable[[Grid, _Numbers], None]]] = {
    "@": lambda grid, numbers: grid.insert_chars(numbers[0] or 1),
    "A": lambda grid, numbers: grid.move_by(-(numbers[0] or 1), 0),
    "B": lambda grid, numbers: grid.move_by(numbers[0] or 1, 0),
    "C": lambda grid, numbers: grid.move_by(0, numbers[0] or 1),
    "D": lambda grid, numbers: grid.move_by(0, -(numbers[0] or 1)),
    "E": lambda grid, numbers: grid.move(grid.row + (numbers[0] or 1), 0),
    "F": lambda grid, numbers: grid.move(grid.row - (numbers[0] or 1), 0),
    "G": lambda grid, numbers: grid.move(grid.row, (numbers[0] or 1) - 1),
    "`": lambda grid, numbers: grid.move(grid.row, (numbers[0] or 1) - 1),
    "H": lambda grid, numbers: grid.move((numbers[0] or 1) - 1, (numbers[1] or 1) - 1),
    "f": lambda grid, numbers: grid.move((numbers[0] or 1) - 1, (numbers[1] or 1) - 1),
    "J": lambda grid, numbers: grid.erase_display(numbers[0]),
    "K": lambda grid, numbers: grid.erase_line(numbers[0]),
    "L": lambda grid, numbers: grid.scroll_here(-(numbers[0] or 1)),
    "M": lambda grid, numbers: grid.scroll_here(numbers[0] or 1),
    "P": lambda grid, numbers: grid.delete_chars(numbers[0] or 1),
    "S": lambda grid, numbers: grid.scroll(numbers[0] or 1),
    "T": lambda grid, numbers: grid.scroll(-(numbers[0] or 1)),
    "X": lambda grid, numbers: grid.erase_chars(numbers[0] or 1),
    "a": lambda grid, numbers: grid.move_by(0, numbers[0] or 1),
    "d": lambda grid, numbers: grid.move((numbers[0] or 1) - 1, grid.column),
    "e": lambda grid, numbers: grid.move_by(numbers[0] or 1, 0),
    "r": lambda grid, numbers: grid.limit((numbers[0] or 1) - 1, (numbers[1] or grid.rows) - 1),
}
_PLAIN: Final[Mapping[str, Callable[[Grid], None]]] = {
    "\n": lambda grid: grid.line_feed(),
    "\x0b": lambda grid: grid.line_feed(),
    "\x0c": lambda grid: grid.line_feed(),
    "\r": lambda grid: grid.move(grid.row, 0),
    "\b": lambda grid: grid.move_by(0, -1),
    "\t": lambda grid: grid.tab(),
}


class TerminalScreen:
    """What an agent's terminal shows. replies: what a terminal says to an agent that asks it."""

    def __init__(self, rows: int, columns: int) -> None:
        self.replies = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._grid = Grid(rows, columns)
        self._main: Grid | None = None
        self._saved = (0, 0)

    @property
    def size(self) -> tuple[int, int]:
        """Its rows and columns."""
        return self._grid.rows, self._grid.columns

    @property
    def lines(self) -> list[str]:
        """What can be read on it."""
        return [line.text for line in self._grid.lines]

    @property
    def cursor(self) -> tuple[int, int]:
        """The cursor's row and column, from 0."""
        return self._grid.row, self._grid.column

    def drawing(self) -> bytes:
        """What shows the same on another terminal of this size."""
        grid = self._grid
        drawn = ["\x1b[0m\x1b[r"]
        if self._main is not None:
            drawn.append("\x1b[?1049h")
        drawn.append("\x1b[H\x1b[2J")
        if self._main is None and grid.history:
            # It scrolls off as it did here.
            drawn += [f"{line}\r\n" for line in grid.history]
            drawn.append("\n" * (grid.rows - 1))
        for at, line in enumerate(grid.lines, 1):
            if text := line.drawn():
                drawn.append(f"\x1b[{at};1H{text}")
        if (grid.top, grid.bottom) != (0, grid.rows - 1):
            drawn.append(f"\x1b[{grid.top + 1};{grid.bottom + 1}r")
        drawn.append(f"\x1b[{grid.row + 1};{grid.column + 1}H")
        if style := grid.style.codes:
            drawn.append(f"\x1b[0;{style}m")
        return "".join(drawn).encode()

    def resize(self, rows: int, columns: int) -> None:
        """Take another size. An agent draws again when it learns of it."""
        for grid in (self._grid, self._main):
            if grid is not None:
                grid.resize(rows, columns)

    def feed(self, data: bytes) -> None:
        """Show what an agent prints."""
        text = self._pending + self._decoder.decode(data)
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is not None:
                self._take(found)
                at = found.end()
            elif _INCOMPLETE.fullmatch(text, at) and len(text) - at <= _LONGEST_SEQUENCE:
                break
            else:
                at += 1  # Without its start, a broken sequence is text.
        self._pending = text[at:]

    def _take(self, found: re.Match[str]) -> None:
        kind, content = found.lastgroup, found[found.lastgroup or 0]
        if kind == "text":
            self._grid.write(content)
        elif kind == "final":
            self._control(found["parameters"], found["between"], content)
        elif kind == "plain":
            _PLAIN.get(content, _ignore)(self._grid)
        elif kind == "string":
            self._answer_string(content)
        else:
            self._escape(content)

    def _escape(self, code: str) -> None:
        grid = self._grid
        if code == "7":
            self._saved = self.cursor
        elif code == "8":
            grid.move(*self._saved)
        elif code in ("D", "E"):
            grid.line_feed()
            if code == "E":
                grid.move(grid.row, 0)
        elif code == "M":
            grid.reverse_line_feed()
        elif code == "c":
            self._grid, self._main = Grid(*self.size), None

    def _control(self, parameters: str, between: str, final: str) -> None:
        if parameters[:1] in ("?", ">", "<", "=") or between:
            self._private(parameters, between, final)
        elif final == "m":
            self._grid.style.change(parameters)
        elif final in ("n", "c", "t"):
            self._report(parameters, final)
        elif final == "s":
            self._saved = self.cursor
        elif final == "u":
            self._grid.move(*self._saved)
        elif (act := _CONTROLS.get(final)) is not None:
            first, _, second = parameters.partition(";")
            act(self._grid, (_number(first), _number(second.partition(";")[0])))

    def _private(self, parameters: str, between: str, final: str) -> None:
        if between == "$" and final == "p":
            self._reply(f"\x1b[{parameters[:_MOST_DIGITS]};0$y")
        elif parameters == "?" and final == "u":
            self._reply("\x1b[?0u")
        elif parameters in (">", ">0") and final == "c":
            self._reply("\x1b[>0;0;0c")
        elif parameters.startswith("?") and final in ("h", "l"):
            for mode in parameters[1:].split(";"):
                if mode in _ALTERNATES:
                    self._switch(final == "h")

    def _switch(self, to_alternate: bool) -> None:
        if to_alternate and self._main is None:
            self._main, self._grid = self._grid, Grid(*self.size)
            self._grid.keeps_history = False
        elif not to_alternate and self._main is not None:
            self._grid, self._main = self._main, None

    def _report(self, parameters: str, final: str) -> None:
        row, column = self.cursor
        asked = parameters.partition(";")[0] + final
        replies = {
            "6n": f"\x1b[{row + 1};{column + 1}R",
            "5n": "\x1b[0n",
            "c": "\x1b[?62;22c",
            "0c": "\x1b[?62;22c",
            "18t": "\x1b[8;{};{}t".format(*self.size),
        }
        self._reply(replies.get(asked, ""))

    def _answer_string(self, string: str) -> None:
        if string.startswith("P+q"):
            self._reply("\x1bP0+r\x1b\\")
        elif string in ("]10;?", "]11;?"):
            level = "ffff" if string == "]10;?" else "0000"
            self._reply(f"\x1b{string[:4]}rgb:{level}/{level}/{level}\x1b\\")

    def _reply(self, text: str) -> None:
        self.replies = (self.replies + text)[-_MOST_REPLIES:]


_MOST_DIGITS: Final = 8


def _number(text: str) -> int:
    return min(int(text), LARGEST) if text.isdigit() and len(text) <= _MOST_DIGITS else 0


def _ignore(grid: Grid) -> None:
    """A control character that shows nothing."""
