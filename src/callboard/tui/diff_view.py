"""A file's diff in the terminal: line by line, with one line selected for a comment."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from callboard.display.lines import Look, one_line, visible
from callboard.display.syntax import Piece, sliced
from callboard.tui.text import broken
from callboard.worktree.changes import DiffHunk, DiffLine, FileChanges, LineKind
from callboard.worktree.colors import colored_diff
from callboard.worktree.summaries import why_no_lines

_SIGNS: Final[dict[LineKind, tuple[str, Look]]] = {
    "same": (" ", "plain"),
    "added": ("+", "added"),
    "removed": ("-", "removed"),
}
_LOOKS: Final = "plain faint heading added removed number notice cursor"
_COLORS: Final = "keyword string comment literal name"


class _Row(NamedTuple):
    """A line on the screen; line: which of the diff it belongs to. pieces: `text` in colors."""

    text: str
    look: Look
    lead: str = ""
    line: DiffLine | None = None
    pieces: Sequence[Piece] = ()


class DiffView(ScrollView, can_focus=True):
    """The diff of one file. Comments are below their lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"talk--{look}" for look in _LOOKS.split()),
        *(f"code--{kind}" for kind in _COLORS.split()),
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f,space", "page(1)", "Page down", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(-1)", "Last", show=False),
    ]

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._diff: FileChanges | None = None
        self._pieces: list[list[list[Piece]]] = []
        self._notes: dict[tuple[str, int], list[str]] = {}
        self._rows: list[_Row] = []
        self._at = 0

    @property
    def selected(self) -> DiffLine | None:
        """The selected line."""
        return self._rows[self._at].line if self._at < len(self._rows) else None

    def show(self, diff: FileChanges | None, notes: dict[tuple[str, int], list[str]]) -> None:
        """Show a diff; notes: comments by side and line. The same file keeps its place."""
        is_same = diff is not None and self._diff is not None and _path(diff) == _path(self._diff)
        if diff != self._diff:
            self._pieces = [] if diff is None else colored_diff(diff)
        self._diff, self._notes = diff, notes
        if not is_same:
            self._at = 0
            self.scroll_home(animate=False)
        self._arrange()

    def on_resize(self, event: events.Resize) -> None:
        """Rewrap the lines."""
        self._arrange()

    def _arrange(self) -> None:
        width = self.size.width
        if not width:
            return
        selected = self.selected
        self._rows = list(self._laid_out(width))
        lines = [at for at, row in enumerate(self._rows) if row.line is not None]
        found = (at for at in lines if self._rows[at].line is selected and selected is not None)
        self._at = next(found, lines[0] if lines else 0)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def _laid_out(self, width: int) -> Iterator[_Row]:
        diff = self._diff
        if diff is None:
            return
        yield _Row(one_line(_path(diff)), "heading")
        if not diff.hunks:
            yield _Row(why_no_lines(diff.file), "faint")
        for hunk, pieces in zip(diff.hunks, self._pieces, strict=True):
            yield from self._hunk(hunk, pieces, width)
        if diff.cut:
            yield _Row("… The rest of the diff is left out.", "notice")

    def _hunk(
        self, hunk: DiffHunk, colored: Sequence[Sequence[Piece]], width: int
    ) -> Iterator[_Row]:
        at = f"@@ -{hunk.old_start} +{hunk.new_start} @@ {one_line(hunk.heading)}"
        yield _Row(at.rstrip(), "number")
        digits = len(str(max((one.new or one.old or 0 for one in hunk.lines), default=0)))
        for line, pieces in zip(hunk.lines, colored, strict=True):
            sign, look = _SIGNS[line.kind]
            lead = f"{line.new or line.old or 0:>{digits}} {sign}"
            for part in parts(pieces, max(8, width - 2 - cell_len(lead))):
                text = "".join(piece.text for piece in part)
                yield _Row(text, look, lead, line, part)
                lead = " " * cell_len(lead)
            if line.no_newline:
                yield _Row("No line break at the end of the file", "faint", lead)
            for note in self._notes.get(place_of(line), ()):
                yield from (_Row(piece, "notice", "  ▎") for piece in _wrapped(note, width))

    # ------------------------------------------------------------------ moving

    def action_move(self, by: int) -> None:
        """Select the next or the previous line."""
        at = self._at + by
        now = self.selected
        while 0 <= at < len(self._rows) and self._rows[at].line in (None, now):
            at += by
        if 0 <= at < len(self._rows):
            self._select(at)
        else:
            self.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by a page."""
        step = max(1, self.size.height - 2)
        at = max(0, min(self._at + by * step, len(self._rows) - 1))
        self._select_near(at, 1 if by > 0 else -1)

    def action_edge(self, at: int) -> None:
        """Select the first or the last line."""
        if self._rows:
            self._select_near(0 if at == 0 else len(self._rows) - 1, 1 if at == 0 else -1)

    def _select_near(self, at: int, by: int) -> None:
        for step in (by, -by):
            found = at
            while 0 <= found < len(self._rows):
                if self._rows[found].line is not None:
                    return self._select(found)
                found += step
        return None

    def _select(self, at: int) -> None:
        self._at = at
        region = Region(0, max(0, at - 1), self.size.width, min(3, max(1, self.size.height)))
        self.scroll_to_region(region, animate=False, force=True)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked."""
        at = event.y + self.scroll_offset.y
        if 0 <= at < len(self._rows) and self._rows[at].line is not None:
            self._at = at
            self.refresh()

    # ------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """One line of the terminal."""
        at, width = y + self.scroll_offset.y, self.size.width
        if at >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[at]
        is_selected = row.line is not None and row.line is self.selected
        segments = [
            Segment("▌" if is_selected else " ", self._look("number")),
            Segment(row.lead, self._look("faint" if row.look == "plain" else row.look)),
            *(
                Segment(text, self._color(kind, row.look))
                for text, kind in row.pieces or [Piece(row.text)]
            ),
        ]
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        if not (is_selected and self.has_focus):
            return strip
        cursor = self.get_component_rich_style("talk--cursor", partial=True)
        return Strip(
            [Segment(text, (style or Style()) + cursor) for text, style, _ in strip], width
        )

    def _color(self, kind: str, look: str) -> Style:
        return (
            self._look(look) if kind == "plain" else self.get_component_rich_style(f"code--{kind}")
        )

    def _look(self, look: str) -> Style:
        return self.get_component_rich_style(f"talk--{look}")


def place_of(line: DiffLine) -> tuple[str, int]:
    """The side of the diff that a line is on, and its number there."""
    return ("old", line.old or 0) if line.kind == "removed" else ("new", line.new or 0)


def _path(diff: FileChanges) -> str:
    old = f"{diff.file.old_path} → " if diff.file.old_path is not None else ""
    return old + diff.file.path


def parts(pieces: Sequence[Piece], width: int) -> Iterator[list[Piece]]:
    """A line in parts of at most this many cells, without the spaces at breaks."""
    text, at = "".join(piece.text for piece in pieces), 0
    for part in broken(text, width):
        at = text.index(part, at)
        yield sliced(pieces, at, at + len(part))
        at += len(part)


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.split("\n"):
        yield from broken(visible(line, keep=""), max(8, width - 6))
