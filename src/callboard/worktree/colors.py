"""The lines of a diff with syntax colors."""

from collections.abc import Iterator, Sequence

from callboard.display.lines import visible
from callboard.display.syntax import Piece, colored
from callboard.worktree.changes import DiffLine, FileChanges

_TAB = 4


def colored_diff(diff: FileChanges) -> list[list[list[Piece]]]:
    """The pieces of each line of each hunk, as a terminal shows them."""
    sides = {
        side: iter(colored(path, list(_texts(diff, hidden))))
        for side, path, hidden in (
            ("removed", diff.file.old_path or diff.file.path, "added"),
            ("added", diff.file.path, "removed"),
        )
    }

    def pieces(line: DiffLine) -> list[Piece]:
        # Unchanged lines are on both sides.
        olds = next(sides["removed"]) if line.kind != "added" else None
        news = next(sides["added"]) if line.kind != "removed" else None
        return news or olds or []

    return [[pieces(line) for line in hunk.lines] for hunk in diff.hunks]


def shown(line: DiffLine) -> str:
    """The text of a line, with hidden characters made visible."""
    return visible(line.text.expandtabs(_TAB), keep="")


def _texts(diff: FileChanges, hidden: str) -> Iterator[str]:
    lines: Sequence[DiffLine]
    for lines in (hunk.lines for hunk in diff.hunks):
        yield from (shown(line) for line in lines if line.kind != hidden)
