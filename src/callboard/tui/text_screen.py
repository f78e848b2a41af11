"""A text on the whole screen; and one such text: every key and every sign."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

_KEYS: Final = (
    ("Look", ""),
    ("↑ ↓  j k", "another row"),
    ("Enter", "open it: its question, or all about it"),
    ("Tab", "scroll what stands beside the list"),
    ("/", "filter: every word must stand somewhere in the row"),
    ("o", "order within the groups: waiting, latest, project"),
    ("c", "show those that are closed, or hide them"),
    ("Decide", ""),
    ("y  n", "yes and no, once you have read it; n declines any question"),
    ("1 … 9", "take that option of its question"),
    ("Do", ""),
    ("t", "go to its tmux pane"),
    ("r", "resume it here, when it is closed"),
    ("p", "pin it to the top of its group"),
    ("n  N", "name it (n when it asks nothing)"),
    ("d", "dismiss it; its next session brings it back"),
    ("Board", ""),
    ("T", "theme: dark, light, monochrome"),
    ("b", "sounds: off, bell, tones (one for each state)"),
    ("w", "desktop notification when somebody is needed"),
    ("ctrl+l", "look at everything again"),
    ("q", "quit"),
    ("Signs", ""),
    ("•  ▴", "not seen yet · pinned"),
    ("!  ?  ✗  ✓", "wants an approval · asks · failed · done, not seen"),
    ("●  ○  –  ×  →", "runs · starts · idle · closed · answered"),
)


class TextScreen(ModalScreen[None]):
    """One text on the whole screen, perhaps with a title; arrow keys scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, lay_out: Callable[[int], Content], title: str = "") -> None:
        """Make one. lay_out: the text, broken to fit so many cells."""
        super().__init__()
        self._lay_out = lay_out
        self._heading = title

    def compose(self) -> ComposeResult:
        """The title, and the text, which scrolls."""
        with Vertical(id="dialog"):
            if self._heading:
                yield Static(self._heading, id="dialog-title")
            with VerticalScroll(id="dialog-body", can_focus=True):
                yield Static(id="dialog-text")

    def on_resize(self) -> None:
        """Break the lines to fit."""
        width = self.query_one("#dialog-body").scrollable_content_region.width
        if width:
            self.query_one("#dialog-text", Static).update(self._lay_out(width))


def help_text() -> Content:
    """A table of what keys do, and of what signs mean."""
    parts: list[tuple[str, str]] = []
    for key, does in _KEYS:
        if does:
            parts += [(f"  {key:<12}", "$primary"), (f"{does}\n", "")]
        else:
            parts.append((f"{key}\n", "bold"))
    return Content.assemble(*parts).rstrip()
