"""Reads a unified diff of one file into numbered lines. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callboard.worktree.changes import DiffHunk, DiffLine, LineKind

LARGEST_DIFF: Final = 400_000
"""Bytes of JSON that the lines of a diff have at most."""
LONGEST_LINE: Final = 2000
"""Characters of a line that are shown."""
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)", re.DOTALL)
_KINDS: Final[dict[str, LineKind]] = {" ": "same", "+": "added", "-": "removed"}


@dataclass(frozen=True, slots=True)
class ParsedDiff:
    """The hunks of a diff. cut: whether the rest is missing. binary: whether it has no lines."""

    hunks: list[DiffHunk]
    cut: bool
    binary: bool


def parsed(printed: bytes, largest: int = LARGEST_DIFF, *, whole: bool) -> ParsedDiff:
    """The hunks in what git printed, up to `largest` bytes of JSON.

    whole: whether it is all that git had to print.
    """
    hunks: list[DiffHunk] = []
    open_hunk: _OpenHunk | None = None
    left, binary = largest, False
    for line in _lines(printed, whole=whole):
        if (start := _HUNK.match(line)) is not None:
            open_hunk = _OpenHunk(int(start[1]), int(start[2]))
            hunks.append(open_hunk.hunk(start[3][:LONGEST_LINE]))
        elif line.startswith("diff "):  # Another kind of file has its name now.
            open_hunk = None
        elif open_hunk is None:
            binary = binary or line.startswith("Binary files ")
        elif line:
            open_hunk.add(line)
            left -= len(json.dumps(line[:LONGEST_LINE])) + 60
            if left < 0:
                return ParsedDiff(hunks, True, binary)
    return ParsedDiff(hunks, not whole, binary)


def _lines(printed: bytes, *, whole: bool) -> Iterator[str]:
    """The lines, one after the other: a list of all of them can be many times as large."""
    start = 0
    while (end := printed.find(b"\n", start)) >= 0:
        yield printed[start:end].decode("utf-8", "replace")
        start = end + 1
    if whole:  # Else half a line would be another one.
        yield printed[start:].decode("utf-8", "replace")


class _OpenHunk:
    """Numbers the lines of a hunk."""

    def __init__(self, old: int, new: int) -> None:
        self._starts = (old, new)
        self._old = old
        self._new = new
        self._lines: list[DiffLine] = []

    def hunk(self, heading: str) -> DiffHunk:
        return DiffHunk(*self._starts, heading, self._lines)

    def add(self, line: str) -> None:
        kind = _KINDS.get(line[0])
        if kind is None:  # "\ No newline at end of file"
            if self._lines:
                last = self._lines[-1]
                self._lines[-1] = DiffLine(last.kind, last.text, last.old, last.new, True)
            return
        old = None if kind == "added" else self._old
        new = None if kind == "removed" else self._new
        self._lines.append(DiffLine(kind, line[1 : LONGEST_LINE + 1], old, new))
        self._old += old is not None
        self._new += new is not None
