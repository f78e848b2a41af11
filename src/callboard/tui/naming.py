"""A name for a plate, typed in a line of its own."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from callboard.tui.rows import Row

_LONGEST = 200


class NameDialog(ModalScreen[str | None]):
    """Gives the name; an empty one takes the name away, None leaves all as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", priority=True),
        Binding("enter", "take", "Name it"),
    ]

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._whose = row.title
        self._known = str((row.plate or {}).get("name") or "")

    def compose(self) -> ComposeResult:
        """One line to write in."""
        with Vertical(id="dialog"):
            yield Static(f"Name for {self._whose}", id="dialog-title", markup=False)
            yield Input(self._known, max_length=_LONGEST, id="dialog-input")
            yield Footer(compact=True, show_command_palette=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take it."""
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Leave all as it is."""
        self.dismiss(None)

    def action_take(self) -> None:
        """Take it."""
        self.dismiss(self.query_one(Input).value.strip())
