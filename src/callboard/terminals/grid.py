"""The cells of a terminal: rows of characters, and a cursor that moves and writes."""

import unicodedata
from collections import deque
from typing import Final

HISTORY: Final = 300
"""How many lines are kept that have scrolled off."""
_LONGEST_CELL: Final = 8
_TAB: Final = 8
_OFF: Final = {
    22: ("1", "2"), 23: ("3",), 24: ("4",), 25: ("5",), 27: ("7",), 28: ("8",), 29: ("9",),
    39: ("fg",), 49: ("bg",), 55: ("53",), 59: ("ul",),
}  # fmt: skip
_COLORS: Final = {38: "fg", 48: "bg", 58: "ul"}
_PARTS: Final = {"5": 3, "2": 5}
"""How many numbers a color takes: one of a palette, or red, green and blue."""
_DIGITS: Final = "0123456789:"
_MOST: Final = 64
_LONGEST_CODE: Final = 24
"""As long as a color is. Each cell of it is drawn with it."""


class TextStyle:
    """The codes in effect. codes: for another terminal. background: only that of the color."""

    __slots__ = ("_set", "background", "codes")

    def __init__(self) -> None:
        self._set: dict[str, str] = {}
        self.codes = ""
        self.background = ""

    def change(self, parameters: str) -> None:
        """Follow what is between `ESC [` and `m`."""
        parts = parameters.split(";")[:_MOST]
        while parts:
            parts = parts[self._follow(parts) :]
        self.codes = ";".join(self._set.values())
        self.background = self._set.get("bg", "")

    def _follow(self, parts: list[str]) -> int:
        """Follow the first code; returns how many numbers it takes."""
        first, colon, _ = parts[0].partition(":")
        code = int(first) if first.isdigit() and len(first) < 4 else 0
        if code in _COLORS:
            return self._follow_color(_COLORS[code], parts, bool(colon))
        if code == 0:
            self._set.clear()
        elif code in _OFF:
            for one in _OFF[code]:
                self._set.pop(one, None)
        elif code < 10 or code == 53:
            self._set[str(code)] = parts[0] if _is_code(parts[0]) else first
        elif 30 <= code <= 37 or 90 <= code <= 97:
            self._set["fg"] = first
        elif 40 <= code <= 47 or 100 <= code <= 107:
            self._set["bg"] = first
        return 1

    def _follow_color(self, key: str, parts: list[str], is_one: bool) -> int:
        """Follow a color with numbers; is_one: whether colons separate them."""
        count = 1 if is_one else _PARTS.get(parts[1] if len(parts) > 1 else "", 1)
        given = parts[:count]
        if (is_one or count > 1) and all(_is_code(one) for one in given):
            self._set[key] = ";".join(given)
        return count


def _is_code(part: str) -> bool:
    return len(part) <= _LONGEST_CODE and not part.strip(_DIGITS)


class GridRow:
    """One line: its characters, and how each looks. A wide one is followed by an empty one."""

    __slots__ = ("chars", "styles")

    def __init__(self, columns: int, style: str = "") -> None:
        self.chars = [" "] * columns
        self.styles = [style] * columns

    @property
    def text(self) -> str:
        """Its characters, without blanks at the end."""
        return "".join(self.chars).rstrip()

    def drawn(self) -> str:
        """What draws it on another terminal."""
        last = len(self.chars)
        while last and self.chars[last - 1] in ("", " ") and not self.styles[last - 1]:
            last -= 1
        parts: list[str] = []
        style = ""
        for char, look in zip(self.chars[:last], self.styles[:last], strict=True):
            if look != style:
                parts.append(f"\x1b[0;{look}m" if look else "\x1b[0m")
                style = look
            parts.append(char)
        return "".join(parts) + ("\x1b[0m" if style else "")

    def clear(self, start: int, end: int | None, style: str) -> None:
        """Blank a part of it."""
        for column in range(len(self.chars))[start:end]:
            self.chars[column], self.styles[column] = " ", style

    def resize(self, columns: int) -> None:
        """Cut it, or add blanks."""
        more = columns - len(self.chars)
        self.chars = self.chars[:columns] + [" "] * more
        self.styles = self.styles[:columns] + [""] * more


class Grid:
    """The cells, the cursor, and the lines between which it scrolls.

    history: what has scrolled off the top, as it is drawn.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.style = TextStyle()
        self.history: deque[str] = deque(maxlen=HISTORY)
        self.keeps_history = True
        self.lines = [GridRow(columns) for _ in range(rows)]
        self._wraps = False

    def resize(self, rows: int, columns: int) -> None:
        """Take another size. What is above the cursor scrolls off if there is no place for it."""
        for _ in range(self.row - rows + 1):
            self._drop_top()
        del self.lines[rows:]
        for line in self.lines:
            line.resize(columns)
        self.lines += [GridRow(columns) for _ in range(rows - len(self.lines))]
        row = min(self.row, rows - 1)
        self.rows, self.columns = rows, columns
        self.top, self.bottom = 0, rows - 1
        self.move(row, self.column)

    # ------------------------------------------------------------------ moving

    def move(self, row: int, column: int) -> None:
        """Put the cursor somewhere."""
        self.row = max(0, min(self.rows - 1, row))
        self.column = max(0, min(self.columns - 1, column))
        self._wraps = False

    def move_by(self, rows: int, columns: int) -> None:
        """Move the cursor."""
        self.move(self.row + rows, self.column + columns)

    def tab(self) -> None:
        """Move to the next tab stop."""
        self.move(self.row, (self.column // _TAB + 1) * _TAB)

    def line_feed(self) -> None:
        """Move down, and scroll at the bottom."""
        if self.row == self.bottom:
            self.scroll(1)
        else:
            self.move_by(1, 0)
        self._wraps = False

    def reverse_line_feed(self) -> None:
        """Move up, and scroll at the top."""
        if self.row == self.top:
            self.scroll(-1)
        else:
            self.move_by(-1, 0)

    def limit(self, top: int, bottom: int) -> None:
        """Scroll only between two lines from now on."""
        if 0 <= top < bottom < self.rows:
            self.top, self.bottom = top, bottom
            self.move(0, 0)

    def scroll(self, count: int, first: int | None = None) -> None:
        """Move the lines from the first one to the bottom up; down if negative."""
        start = self.top if first is None else first
        for _ in range(min(abs(count), self.bottom - start + 1)):
            if count < 0:
                self.lines.pop(self.bottom)
                self.lines.insert(start, self._new_row())
                continue
            if start == 0 and first is None:
                self._drop_top()
            else:
                self.lines.pop(start)
            self.lines.insert(self.bottom, self._new_row())

    def scroll_here(self, count: int) -> None:
        """Insert lines at the cursor if negative, or delete them."""
        if self.top <= self.row <= self.bottom:
            self.scroll(count, self.row)

    # ------------------------------------------------------------------ writing

    def write(self, text: str) -> None:
        """Write characters at the cursor."""
        if text.isascii():
            while text:
                self._wrap(1)
                text = self._write_part(text)
            return
        for char in text:
            width = _width(char)
            if width == 0:
                self._join(char)
                continue
            self._wrap(width)
            line = self.lines[self.row]
            self._split(line.chars, self.column, min(self.column + width, self.columns))
            for at, one in enumerate((char, "")[:width], self.column):
                if at < self.columns:
                    line.chars[at], line.styles[at] = one, self.style.codes
            self._advance(width)

    def _write_part(self, text: str) -> str:
        """Write what fits into the line; returns the rest."""
        count = min(len(text), self.columns - self.column)
        line, end = self.lines[self.row], self.column + count
        self._split(line.chars, self.column, end)
        line.chars[self.column : end] = text[:count]
        line.styles[self.column : end] = [self.style.codes] * count
        self._advance(count)
        return text[count:]

    def _split(self, chars: list[str], start: int, end: int) -> None:
        """Blank the other half of a wide character of which one half is written over."""
        if start > 0 and not chars[start]:
            chars[start - 1] = " "
        if end < self.columns and not chars[end]:
            chars[end] = " "

    def _advance(self, count: int) -> None:
        self.column += count
        if self.column >= self.columns:
            self.column, self._wraps = self.columns - 1, True

    def _wrap(self, width: int) -> None:
        if self._wraps or self.column + width > self.columns:
            self.column = 0
            self.line_feed()

    def _join(self, char: str) -> None:
        """Add an accent to the character before the cursor."""
        at = self.column if self._wraps else self.column - 1
        chars = self.lines[self.row].chars
        if at > 0 and not chars[at]:
            at -= 1
        if at >= 0 and len(chars[at]) < _LONGEST_CELL:
            chars[at] += char

    # ------------------------------------------------------------------ erasing

    def erase_display(self, part: int) -> None:
        """Blank what is after the cursor, before it, or everything; 3: what has scrolled off."""
        if part == 3:
            self.history.clear()
            return
        self.erase_line(part)
        above, below = self.lines[: self.row], self.lines[self.row + 1 :]
        for line in [*(above if part else []), *(below if part != 1 else [])]:
            line.clear(0, None, self.style.background)

    def erase_line(self, part: int) -> None:
        """Blank the rest of the line, its start, or all of it."""
        start, end = {0: (self.column, None), 1: (0, self.column + 1)}.get(part, (0, None))
        self.lines[self.row].clear(start, end, self.style.background)

    def erase_chars(self, count: int) -> None:
        """Blank characters from the cursor on."""
        self.lines[self.row].clear(self.column, self.column + count, self.style.background)

    def insert_chars(self, count: int) -> None:
        """Push the rest of the line to the right."""
        line, count = self.lines[self.row], min(count, self.columns - self.column)
        line.chars[self.column : self.column] = [" "] * count
        line.styles[self.column : self.column] = [self.style.background] * count
        line.resize(self.columns)

    def delete_chars(self, count: int) -> None:
        """Pull the rest of the line to the left."""
        line, end = self.lines[self.row], self.column + count
        del line.chars[self.column : end], line.styles[self.column : end]
        line.resize(self.columns)

    def _drop_top(self) -> None:
        gone = self.lines.pop(0)
        if self.keeps_history:
            self.history.append(gone.drawn())

    def _new_row(self) -> GridRow:
        return GridRow(self.columns, self.style.background)


def _width(char: str) -> int:
    """How many cells a character takes."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
