"""Comments on lines as one message for the agent, and which of them are outdated. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from callboard.display.lines import one_line, visible
from callboard.worktree.changes import CommentMessage, CommentPlace, LineComment, Side
from callboard.worktree.unified_diff import LONGEST_LINE

_OUTDATED: Final = "this line has changed since"
_REMOVED: Final = "a removed line"


@dataclass(frozen=True, slots=True)
class CommentedFile:
    """The lines of a file by their numbers, on both sides of the diff."""

    old: Mapping[int, str]
    new: Mapping[int, str]


def message_of(
    comments: Sequence[LineComment], lines_of: Callable[[str], CommentedFile | None]
) -> CommentMessage:
    """The message, with the comments of each file together, from the top of the file down.

    lines_of: the lines of a file. Each is asked for once, and kept only meanwhile.
    """
    places = _places(comments, lines_of)
    pairs = sorted(
        zip(comments, places, strict=True),
        key=lambda pair: (pair[0].path, pair[1].line or pair[0].line, pair[1].index),
    )
    parts = ["Comments on your changes:"]
    for path, group in groupby(pairs, key=lambda pair: pair[0].path):
        parts.append(one_line(path))
        parts += [_comment_text(comment, place) for comment, place in group]
    return CommentMessage("\n\n".join(parts), places)


def _places(
    comments: Sequence[LineComment], lines_of: Callable[[str], CommentedFile | None]
) -> list[CommentPlace]:
    found = list[CommentPlace]()
    for path in {one.path for one in comments}:
        file = lines_of(path)
        numbered = ((index, one) for index, one in enumerate(comments) if one.path == path)
        found += [_place(index, one, file) for index, one in numbered]
    return sorted(found, key=lambda place: place.index)


def _place(index: int, comment: LineComment, file: CommentedFile | None) -> CommentPlace:
    lines = _sides(file)[comment.side]
    if _same(lines.get(comment.line), comment.excerpt):
        return CommentPlace(index, comment.line, False)
    moved = _nearest(lines, comment) if comment.excerpt.strip() else None
    return CommentPlace(index, moved, moved is None)


def _sides(file: CommentedFile | None) -> Mapping[Side, Mapping[int, str]]:
    return {"old": {}, "new": {}} if file is None else {"old": file.old, "new": file.new}


def _nearest(lines: Mapping[int, str], comment: LineComment) -> int | None:
    """Where the line is now, if lines above it came or went."""
    found = [number for number, text in lines.items() if _same(text, comment.excerpt)]
    return min(found, key=lambda number: abs(number - comment.line), default=None)


def _same(line: str | None, excerpt: str) -> bool:
    return line is not None and line.rstrip() == excerpt[:LONGEST_LINE].rstrip()


def _comment_text(comment: LineComment, place: CommentPlace) -> str:
    notes = [_REMOVED] if comment.side == "old" else []
    notes += [_OUTDATED] if place.outdated else []
    note = f" ({', '.join(notes)})" if notes else ""
    excerpt = visible(comment.excerpt[:LONGEST_LINE].rstrip(), keep="\t")
    return f"Line {place.line or comment.line}{note}:\n> {excerpt}\n{comment.text.strip()}"
