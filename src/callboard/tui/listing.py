"""The board's list: as many lines as the terminal has, in as many columns as fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from callboard.clock import Clock
from callboard.tui.rows import GROUPS, Row, as_held
from callboard.tui.text import age, fitted
from callboard.tui.whereabouts import unreachable

_ROOM_FOR_HEADINGS: Final = 10
"""Lines; a shorter list has no headings."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its width in cells."""

    name: str
    width: int


_FIXED: Final = {"mark": 2, "status": 10, "todo": 5, "age": 4}
_GAP: Final = 1
_NARROWEST_ASKS: Final = 24
# In the order in which they are dropped, last first, with the width from which there is room.
_FROM: Final = {"host": 76, "agent": 84, "branch": 96, "tool": 112}
_ORDER: Final = (
    "mark",
    "status",
    "title",
    "asks",
    "tool",
    "todo",
    "branch",
    "agent",
    "host",
    "age",
)


def columns(width: int, *, with_host: bool = False) -> list[Column]:
    """The columns of a list of this width. They fill it exactly."""
    widths = dict(_FIXED)
    if with_host and width >= _FROM["host"]:
        widths["host"] = 10
    if width >= _FROM["agent"]:
        widths["agent"] = 8
    if width >= _FROM["tool"]:
        widths["tool"] = 10
    if width >= _FROM["branch"]:
        widths["branch"] = min(24, 12 + (width - _FROM["branch"]) // 6)
    gaps = _GAP * (len(widths) + 2)
    left = max(0, width - sum(widths.values()) - gaps)
    title = min(max(12, left // 3), 30, left)
    if left - title < _NARROWEST_ASKS:
        title = max(0, min(title, left * 2 // 5))
    widths |= {"title": title, "asks": left - title}
    return [Column(name, widths[name]) for name in _ORDER if widths.get(name)]


_LOOKS: Final = "needs failed done running idle closed title text faint mark cursor heading rule"
"""The styles in `board.tcss`: for a row by its status, and for parts of the list."""


class Listing(ScrollView, can_focus=True):
    """Rows under their group headings, with one selected."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"row--{look}" for look in _LOOKS.split()}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "edge(-1)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
    ]

    class Selected(Message):
        """Another row is selected; `by_person`: with a key or the mouse."""

        def __init__(self, row: Row | None, *, by_person: bool) -> None:
            super().__init__()
            self.row = row
            self.by_person = by_person

    class Opened(Message):
        """The selected row was clicked again."""

    def __init__(self, clock: Clock, id: str) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._rows: list[Row] = []
        self._lines: list[Row | str] = []
        self._places: dict[str, int] = {}
        self._columns: list[Column] = []
        self._key: str | None = None
        self._held: Row | None = None

    @property
    def selected(self) -> Row | None:
        """The selected row."""
        found = self._lines[self._places[self._key]] if self._key in self._places else None
        return found if isinstance(found, Row) else None

    def show(self, rows: Sequence[Row], held: Row | None = None) -> None:
        """List these rows in this order; the selection stays."""
        index = self._index()
        before = self.selected
        self._rows, self._held = list(rows), held
        self._arrange()
        if self._key not in self._places:
            # If the selected row is gone, select the one in its place.
            at = min(index, len(self._rows) - 1)
            self._key = self._rows[at].key if self._rows else None
            self._reveal()
        if self.selected is not before:
            self.post_message(self.Selected(self.selected, by_person=False))
        self.refresh()

    def select(self, key: str) -> None:
        """Select a row by its key, as a person would."""
        if key == self._key or key not in self._places:
            return
        self._key = key
        self._reveal()
        self.refresh()
        self.post_message(self.Selected(self.selected, by_person=True))

    # ------------------------------------------------------------------ lines

    def _arrange(self) -> None:
        hosts = any(row.host for row in self._rows)
        self._columns = columns(self.size.width, with_host=hosts)
        self._lines = []
        headings = self.size.height >= _ROOM_FOR_HEADINGS
        group: int | None = None
        for row in self._rows:
            placed = as_held(row, self._held)
            if headings and placed.group != group:
                group = placed.group
                self._lines.append(GROUPS[group])
            self._lines.append(row)
        self._places = {
            line.key: at for at, line in enumerate(self._lines) if isinstance(line, Row)
        }
        self.virtual_size = Size(self.size.width, len(self._lines))

    def _index(self) -> int:
        """The index of the selected row, not counting headings."""
        selected = self.selected
        return self._rows.index(selected) if selected is not None else 0

    def _reveal(self) -> None:
        if self._key not in self._places:
            return
        line = self._places[self._key]
        # Scroll a row's heading into view along with it.
        above = 1 if line and isinstance(self._lines[line - 1], str) else 0
        region = Region(0, line - above, self.size.width, 1 + above)
        self.scroll_to_region(region, animate=False, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Fit the columns."""
        self._arrange()
        self._reveal()

    # ------------------------------------------------------------------ moving

    def action_move(self, by: int) -> None:
        """Move the selection by this many rows."""
        if self._rows:
            at = min(max(self._index() + by, 0), len(self._rows) - 1)
            self.select(self._rows[at].key)

    def action_page(self, by: int) -> None:
        """Move the selection by a page."""
        self.action_move(by * max(1, self.size.height - 2))

    def action_edge(self, by: int) -> None:
        """Select the first or the last row."""
        self.action_move(by * len(self._rows))

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a second click opens it."""
        at = event.y + self.scroll_offset.y
        line = self._lines[at] if 0 <= at < len(self._lines) else None
        if not isinstance(line, Row):
            return
        self.select(line.key)
        if event.chain > 1:
            self.post_message(self.Opened())

    # ------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """One line of the terminal."""
        at = y + self.scroll_offset.y
        width = self.size.width
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[at]
        if isinstance(line, str):
            return self._heading(line, width)
        strip = Strip(self._segments(line)).adjust_cell_length(width, self.rich_style)
        if line.key != self._key:
            return strip
        cursor = self.get_component_rich_style("row--cursor", partial=True)
        return Strip(
            [Segment(text, (style or Style()) + cursor) for text, style, _ in strip], width
        )

    def _heading(self, title: str, width: int) -> Strip:
        text = f"   {title} "
        rule = "─" * max(0, width - len(text) - 1) + " "
        return Strip(
            [
                Segment(text, self.get_component_rich_style("row--heading")),
                Segment(rule, self.get_component_rich_style("row--rule")),
            ]
        ).adjust_cell_length(width, self.rich_style)

    def _segments(self, row: Row) -> list[Segment]:
        segments: list[Segment] = []
        for column in self._columns:
            text, look = self._cell(row, column.name)
            style = self.get_component_rich_style(f"row--{look}")
            right = column.name == "age"
            segments.append(Segment(fitted(text, column.width, right=right) + " ", style))
        return segments

    def _cell(self, row: Row, name: str) -> tuple[str, str]:
        """A column's text and style."""
        quiet = "closed" if row.closed else "faint"
        match name:
            case "mark":
                return ("•" if row.unseen else " ") + ("▴" if row.pinned else " "), "mark"
            case "status":
                # What it was when its machine was last seen.
                look = "faint" if row.place.is_lost else row.standing.look
                return f"{row.standing.sign} {row.standing.word}", look
            case "title":
                return row.title, "closed" if row.closed else "title"
            case "asks":
                return self._asks(row), "text" if row.questions or row.unseen else quiet
            case "age":
                return age(row.at_ms, self._clock.now_ms()), quiet
            case _:
                return str(getattr(row, name)), quiet

    def _asks(self, row: Row) -> str:
        """What it asks; if the tool has no column of its own, with the running tool first."""
        has_column = any(column.name == "tool" for column in self._columns)
        said = f"{row.tool}: {row.asks}" if row.tool and not has_column else row.asks
        if row.place.lost_at_ms is None:
            return said
        lost = unreachable(f"{age(row.place.lost_at_ms, self._clock.now_ms())} ago")
        return f"{lost} · {said}" if said else lost
