"""A text on the whole screen, and one such text: the help, with every key and sign."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from callboard.tui.keys import KEYS

_SIGNS: Final = (
    ("•  ▴", "not seen yet · pinned"),
    ("!  ?  ✗  ✓", "needs approval · has a question · failed · done, not seen"),
    ("●  ○  –  ×  →", "running · starting · idle · closed · answered"),
)


class TextScreen(ModalScreen[None]):
    """One text on the whole screen, with an optional title; arrow keys scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, lay_out: Callable[[int], Content], title: str = "") -> None:
        """lay_out: returns the text, wrapped to this many cells."""
        super().__init__()
        self._lay_out = lay_out
        self._heading = title

    def compose(self) -> ComposeResult:
        """The title, and the scrolling text."""
        with Vertical(id="dialog"):
            if self._heading:
                yield Static(self._heading, id="dialog-title")
            with VerticalScroll(id="dialog-body", can_focus=True):
                yield Static(id="dialog-text")

    def on_resize(self) -> None:
        """Rewrap the lines."""
        width = self.query_one("#dialog-body").scrollable_content_region.width
        if width:
            self.query_one("#dialog-text", Static).update(self._lay_out(width))


def help_text() -> Content:
    """A table of the keys, and of what the signs mean."""
    parts: list[tuple[str, str]] = []
    for title, keys in KEYS.items():
        rows = [(key.keys, key.does) for key in keys if key.where != "dashboard"]
        parts += _section(title, rows)
    return Content.assemble(*parts, *_section("Signs", _SIGNS)).rstrip()


def _section(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield (f"{title}\n", "bold")
    for key, does in rows:
        yield (f"  {key:<13} ", "$primary")
        yield (f"{does}\n", "")
