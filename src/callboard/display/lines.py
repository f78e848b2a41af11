"""Lines of text as every surface shows them: hidden characters visible, omissions mentioned."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal, NamedTuple

from callboard.interactions.excerpts import excerpt

_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Joiners only shape letters and emoji, and some scripts can't be written without them.
_SHAPING: Final = "\u200c\u200d"
_PIECE: Final = 65_536
"""Characters that are made visible at a time."""
Look = Literal[
    "plain", "faint", "heading", "command", "added", "removed", "path", "number", "notice"
]
"""What kind of line it is; each surface has its own colors for it."""


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Text from any source, with control and bidi characters made visible."""
    # In pieces, because other threads wait while one is looked at.
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(_visible(piece, keep) for piece in pieces)


def _visible(text: str, keep: str) -> str:
    if text.isprintable():
        return text
    hidden = {ord(char): _escaped(char) for char in set(text) if not _is_plain(char, keep)}
    return text.translate(hidden) if hidden else text


def _is_plain(char: str, keep: str) -> bool:
    return char in keep or char in _SHAPING or unicodedata.category(char) not in _UNSEEN


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int | None = None) -> str:
    """Text on one line, with nothing hidden in it, shortened with … if it is too long."""
    line = " ".join(visible(text).split())
    return line if limit is None or len(line) <= limit else line[: max(limit - 1, 0)] + "…"


class Line(NamedTuple):
    """A line of text, its kind, and what precedes it: an indent, a sign, a number.

    blank: nothing in it is visible. stands_for: how many lines it replaces.
    """

    text: str
    look: Look = "plain"
    lead: str = ""
    lead_look: Look = "faint"
    blank: bool = False
    stands_for: int = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much to show: the number of lines in each part, and of characters in each line.

    full: how to see everything, as the notice puts it.
    """

    lines: int
    width: int
    full: str


# Invisible characters: white space of any kind, fillers, joiners, variation selectors.
_BLANK: Final = (
    r"[\s\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0"
    r"\U000e0100-\U000e01ef]"
)
_ONLY_BLANK: Final = re.compile(f"{_BLANK}*")
_LONG_RUN: Final = re.compile(f"{_BLANK}{{41,}}")
"""Longer than any indent, and enough to push the rest out of sight."""
_FEWEST_BLANK: Final = 3
_TAB: Final = 4
_KILO: Final = 1000


def text_lines(text: str, look: Look = "plain", lead: str = "") -> list[Line]:
    """Text line by line; what would control a terminal is made visible."""
    return [_line(one, look, lead) for one in text.replace("\r\n", "\n").split("\n")]


def _line(raw: str, look: Look, lead: str) -> Line:
    text = visible(_LONG_RUN.sub(_run, raw)).expandtabs(_TAB)
    return Line(text, look, lead, blank=_ONLY_BLANK.fullmatch(raw) is not None)


def _run(found: re.Match[str]) -> str:
    count = len(found[0])
    what = "blank characters" if found[0].strip(" ") else "spaces"
    return f" ⋯ {count:,} {what} ⋯ "


def exact(text: str) -> str:
    """Text on one line, character by character; a line break is shown as an escape."""
    return visible(_LONG_RUN.sub(_run, text), keep="")


def size_of(text: str) -> str:
    """`312 lines, 4.1 KB`; empty for a single line."""
    count = len(text.removesuffix("\n").split("\n"))
    if count == 1:
        return ""
    size: float = len(text.encode("utf-8", "replace"))
    for unit in ("B", "KB"):
        if size < _KILO:
            return f"{count:,} lines, {size:.3g} {unit}"
        size /= _KILO
    return f"{count:,} lines, {size:.1f} MB"


def collapsed(lines: Iterable[Line]) -> list[Line]:
    """The lines, with a notice in place of three or more blank ones in a row."""
    found: list[Line] = []
    for (blank, lead), run in groupby(lines, key=lambda line: (line.blank, line.lead)):
        group = list(run)
        if blank and len(group) >= _FEWEST_BLANK:
            count = len(group)
            group = [Line(f"⋯ {count:,} blank lines ⋯", "notice", lead, stands_for=count)]
        found += group
    return found


def bounded(lines: Sequence[Line], bounds: Bounds) -> list[Line]:
    """At most this many lines, none too long: the start, a notice, and the end."""
    shown = lines
    if len(lines) > bounds.lines:
        tail = (bounds.lines - 1) // 2
        head = bounds.lines - 1 - tail
        missing = lines[head : len(lines) - tail]
        shown = [*lines[:head], _notice(missing, bounds.full), *lines[len(lines) - tail :]]
    return [_fitted(line, bounds.width) for line in shown]


def _notice(missing: Sequence[Line], full: str) -> Line:
    count = sum(line.stands_for for line in missing)
    characters = sum(len(line.text) for line in missing)
    text = f"⋯ {count:,} lines, {characters:,} characters not shown. See all: {full} ⋯"
    return Line(text, "notice", missing[0].lead, stands_for=count)


def _fitted(line: Line, width: int) -> Line:
    # A notice is ours and short; the command in it must not be cut off.
    return line if line.look == "notice" else line._replace(text=excerpt(line.text, width))
