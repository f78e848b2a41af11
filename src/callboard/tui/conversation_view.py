"""A conversation in the terminal: as many lines as there is room for, with one message selected."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from callboard.board.plate import Plate
from callboard.display.conversation import item_lines, speaker
from callboard.display.lines import Bounds, Line
from callboard.events.moments import from_ms
from callboard.tui.text import broken
from callboard.vendors.conversation import ConversationItem

_LOOKS: Final = "plain faint heading command added removed path number notice cursor hit"
_BRIEF: Final = 60, 2000
_WHOLE: Final = 2000, 4000


class _ShownLine(NamedTuple):
    """A line on the screen, and which message it belongs to."""

    item: int
    text: str
    look: str
    lead: str = ""
    lead_look: str = "faint"


class ConversationView(ScrollView, can_focus=True):
    """Messages below each other; tool calls and thoughts are folded until they are opened.

    It stays at the end while the last message is selected and more are added.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"talk--{look}" for look in _LOOKS.split()}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Previous", show=False),
        Binding("down,j", "move(1)", "Next", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(-1)", "Last", show=False),
        Binding("enter,space", "fold", "Fold"),
        Binding("F", "fold_all", "Unfold all"),
    ]

    class Reached(Message):
        """The first message that is known has been reached."""

    class Unfolded(Message):
        """A message was unfolded."""

        def __init__(self, item: ConversationItem) -> None:
            super().__init__()
            self.item = item

    def __init__(self, plate: Plate, full: Callable[[str], str], now: datetime, id: str) -> None:
        """full: the command that shows a message in full."""
        super().__init__(id=id)
        self._agent = plate.agent
        self._folder = plate.project_path
        self._full = full
        self._today = now.astimezone().date()
        self._items: Sequence[ConversationItem] = ()
        self._lines: list[_ShownLine] = []
        self._starts: list[int] = []
        self._laid_out: dict[str, tuple[ConversationItem, bool, list[Line]]] = {}
        self._selected: str | None = None
        self._unfolded: set[str] = set()
        self._all = False
        self.hits: frozenset[str] = frozenset()

    @property
    def selected(self) -> ConversationItem | None:
        """The selected message."""
        at = self._at()
        return None if at is None else self._items[at]

    def show(self, items: Sequence[ConversationItem]) -> None:
        """Show these messages; the selection stays, or is the last one."""
        at_end = self._selected is None or self._at() == len(self._items) - 1
        above = 0 if at_end else self._line_of_selected() - self.scroll_offset.y
        self._items = items
        known = {one.id for one in items}
        if items and (at_end or self._selected not in known):
            self._selected = items[-1].id
        self._laid_out = {id: one for id, one in self._laid_out.items() if id in known}
        self._arrange()
        if at_end:
            self.scroll_end(animate=False, force=True)
        else:
            self.scroll_to(y=self._line_of_selected() - above, animate=False, force=True)

    def select(self, item_id: str) -> None:
        """Select a message, and scroll to it."""
        if any(one.id == item_id for one in self._items):
            self._selected = item_id
            self._reveal()
            self.refresh()

    # ------------------------------------------------------------------ lines

    def _at(self) -> int | None:
        found = (at for at, one in enumerate(self._items) if one.id == self._selected)
        return next(found, None)

    def _line_of_selected(self) -> int:
        at = self._at()
        return self._starts[at] if at is not None and at < len(self._starts) else 0

    def _arrange(self) -> None:
        width = self.size.width
        if not width:
            return
        self._lines, self._starts, before = [], [], ""
        for at, item in enumerate(self._items):
            said = speaker(item, self._agent)
            if said != before:
                self._lines += self._heading(at, item, said)
                before = said
            self._starts.append(len(self._lines))
            self._lines += self._wrapped(at, item, width - 1)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def _heading(self, at: int, item: ConversationItem, said: str) -> Iterator[_ShownLine]:
        if self._lines:
            yield _ShownLine(at, "", "plain")
        when = ""
        if item.at is not None:
            local = from_ms(item.at).astimezone()
            form = "%H:%M:%S" if local.date() == self._today else "%Y-%m-%d %H:%M"
            when = f"  {local.strftime(form)}"
        yield _ShownLine(at, when, "faint", said, "heading")

    def _wrapped(self, at: int, item: ConversationItem, width: int) -> Iterator[_ShownLine]:
        for text, look, lead, lead_look, *_ in self._item_lines(item):
            for index, piece in enumerate(broken(text, max(8, width - cell_len(lead)))):
                before = lead if index == 0 else " " * cell_len(lead)
                yield _ShownLine(at, piece, look, before, lead_look)

    def _item_lines(self, item: ConversationItem) -> list[Line]:
        is_open = self._is_open(item)
        known = self._laid_out.get(item.id)
        if known is not None and known[0] is item and known[1] == is_open:
            return known[2]
        lines, width = _WHOLE if is_open else _BRIEF
        bounds = Bounds(lines, width, self._full(item.id))
        made = item_lines(item, full=is_open, bounds=bounds, folder=self._folder)
        self._laid_out[item.id] = (item, is_open, made)
        return made

    def _is_open(self, item: ConversationItem) -> bool:
        return (item.id in self._unfolded) != self._all

    def _reveal(self) -> None:
        at = self._at()
        if at is None or at >= len(self._starts):
            return
        start = self._starts[at]
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._lines)
        height = min(end - start + 1, max(1, self.size.height))
        region = Region(0, max(0, start - 1), self.size.width, height)
        self.scroll_to_region(region, animate=False, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Rewrap the lines."""
        self.show(self._items)

    # ------------------------------------------------------------------ moving

    def action_move(self, by: int) -> None:
        """Scroll through a message that doesn't fit, then select the next or previous one."""
        at = self._at()
        if at is None:
            return
        start = self._starts[at]
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._lines)
        top = self.scroll_offset.y
        if by > 0 and end > top + self.size.height and start <= top + self.size.height:
            self.scroll_to(y=top + max(1, self.size.height // 2), animate=False, force=True)
        elif by < 0 and start < top < end:
            step = max(1, self.size.height // 2)
            self.scroll_to(y=max(start - 1, top - step), animate=False, force=True)
        elif by < 0 and at == 0:
            self.scroll_home(animate=False)
            self.post_message(self.Reached())
        elif 0 <= at + by < len(self._items):
            self.select(self._items[at + by].id)

    def action_page(self, by: int) -> None:
        """Scroll by a page, and select what is there."""
        top = self.scroll_offset.y + by * max(1, self.size.height - 2)
        top = max(0, min(top, max(0, len(self._lines) - self.size.height)))
        if top == self.scroll_offset.y:
            self.action_edge(0 if by < 0 else -1)
            return
        self.scroll_to(y=top, animate=False, force=True)
        if self._lines:
            self._selected = self._items[self._lines[top].item].id
            self.refresh()

    def action_edge(self, at: int) -> None:
        """Select the first or the last message."""
        if self._items:
            self.select(self._items[at].id)
            if at == 0:
                self.scroll_home(animate=False)
                self.post_message(self.Reached())
            else:
                self.scroll_end(animate=False, force=True)

    def action_fold(self) -> None:
        """Fold or unfold the selected message."""
        item = self.selected
        if item is None:
            return
        self._unfolded ^= {item.id}
        self._arrange()
        self._reveal()
        if self._is_open(item):
            self.post_message(self.Unfolded(item))

    def action_fold_all(self) -> None:
        """Unfold everything, or fold everything again."""
        self._all, self._unfolded = not self._all, set()
        self._arrange()
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a second click folds or unfolds it."""
        at = event.y + self.scroll_offset.y
        if not 0 <= at < len(self._lines):
            return
        self._selected = self._items[self._lines[at].item].id
        self.refresh()
        if event.chain > 1:
            self.action_fold()

    # ------------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        """One line of the terminal."""
        at, width = y + self.scroll_offset.y, self.size.width
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[at]
        item = self._items[line.item]
        is_selected = item.id == self._selected and self._starts[line.item] <= at
        mark = "▌" if is_selected else " "
        look = "hit" if item.id in self.hits else line.look
        segments = [
            Segment(mark, self.get_component_rich_style("talk--number")),
            Segment(line.lead, self.get_component_rich_style(f"talk--{line.lead_look}")),
            Segment(line.text, self.get_component_rich_style(f"talk--{look}")),
        ]
        strip = Strip(segments).adjust_cell_length(width, self.rich_style)
        if not is_selected:
            return strip
        cursor = self.get_component_rich_style("talk--cursor", partial=True)
        return Strip(
            [Segment(text, (style or Style()) + cursor) for text, style, _ in strip], width
        )
