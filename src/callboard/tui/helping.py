"""Every key and every sign, on one page."""

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
    ("b", "sound when somebody is needed"),
    ("w", "desktop notification when somebody is needed"),
    ("ctrl+l", "look at everything again"),
    ("q", "quit"),
    ("Signs", ""),
    ("•  ▴", "not seen yet · pinned"),
    ("!  ?  ✗  ✓", "wants an approval · asks · failed · done, not seen"),
    ("●  ○  –  ×  →", "runs · starts · idle · closed · answered"),
)


class HelpScreen(ModalScreen[None]):
    """What keys do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "leave", "Back", show=False),
    ]

    def compose(self) -> ComposeResult:
        """A table."""
        with Vertical(id="dialog"):
            yield Static("Keys", id="dialog-title")
            with VerticalScroll(id="dialog-body", can_focus=True):
                yield Static(_text(), id="dialog-text")

    def action_leave(self) -> None:
        """Back to the board."""
        self.dismiss(None)


def _text() -> Content:
    parts: list[tuple[str, str]] = []
    for key, does in _KEYS:
        if does:
            parts += [(f"  {key:<12}", "$primary"), (f"{does}\n", "")]
        else:
            parts.append((f"{key}\n", "bold"))
    return Content.assemble(*parts).rstrip()
