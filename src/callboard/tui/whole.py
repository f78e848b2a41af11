"""All about one row, on the whole screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from callboard.tui.detail import told
from callboard.tui.laying_out import laid_out
from callboard.tui.rows import Row


class WholeScreen(ModalScreen[None]):
    """A row in full; arrow keys scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "Back", show=False),
    ]

    def __init__(self, row: Row, now_ms: int) -> None:
        super().__init__()
        self._row = row
        self._now_ms = now_ms

    def compose(self) -> ComposeResult:
        """One text, which scrolls."""
        with Vertical(id="dialog"), VerticalScroll(id="dialog-body", can_focus=True):
            yield Static(id="dialog-text")

    def on_resize(self) -> None:
        """Break the lines to fit."""
        width = self.query_one("#dialog-body").scrollable_content_region.width
        if width:
            text = laid_out(told(self._row, self._now_ms), width)
            self.query_one("#dialog-text", Static).update(text)

    def action_leave(self) -> None:
        """Back to the board."""
        self.dismiss(None)
