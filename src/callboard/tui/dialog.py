"""The board's dialogs: what they share, and the one that names a plate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from callboard.interactions.records import Interaction
from callboard.tui.key_bar import KeyBar
from callboard.tui.text import StyledLine, laid_out

_HIGHEST: Final = 0.92
"""Share of the screen, as in `board.tcss` for every dialog."""
_BORDER: Final = 2
_LEAST: Final = 3
_PIECES: Final = 4
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Decline:
    """Decline a question, with a reason; sent: only once the person has confirmed it."""

    message: str | None = None
    sent: bool = False


class AnswerDialog(ModalScreen[object]):
    """A dialog for one question; returns the value to answer with, or None.

    It stays with this question, whatever happens on the board.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", priority=True, show=False),
    ]

    def __init__(self, question: Interaction) -> None:
        super().__init__()
        self.question = question
        self._text: Sequence[StyledLine] = ()
        self._height = 0
        self._fitted = False

    def compose(self) -> ComposeResult:
        """A title, the question, a text field, and the keys."""
        with Vertical(id="dialog"):
            yield Static(id="dialog-title")
            with _Body(id="dialog-body", can_focus=True):
                yield Static(id="dialog-text")
            yield Input(id="dialog-input")
            yield KeyBar(compact=True, show_command_palette=False)

    def say(self, title: Content, text: Sequence[StyledLine]) -> None:
        """Set title and text."""
        self.query_one("#dialog-title", Static).update(title)
        self._text = text
        self._draw()

    def on_resize(self) -> None:
        """Rewrap the lines."""
        self._draw()

    def _draw(self) -> None:
        width = self.query_one("#dialog-body").scrollable_content_region.width
        if width:
            text = laid_out(self._text, width)
            self._height, self._fitted = text.plain.count("\n") + 1, False
            self.query_one("#dialog-text", Static).update(text)
            self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give the text the room that title, field and keys don't need.

        With more, its last lines would be below the dialog, out of reach of scrolling.
        """
        if len(self.query("#dialog-title, #dialog-body, #dialog-input, KeyBar")) < _PIECES:
            return  # It has been closed.
        others = [self.query_one("#dialog-title"), self.query_one(KeyBar)]
        others += [self.field] if self.field.display else []
        taken = sum(one.outer_size.height for one in others) + _BORDER
        room = max(_LEAST, int(self.size.height * _HIGHEST) - taken)
        self.query_one("#dialog-body").styles.max_height = room
        self._fitted = True
        self.call_after_refresh(self.drawn)

    def drawn(self) -> None:
        """The text is on screen, at its final size."""

    @property
    def is_laid_out(self) -> bool:
        """Whether the sizes on screen are those of the current text."""
        body, text = self.query_one("#dialog-body"), self.query_one("#dialog-text")
        return self._fitted and bool(body.size.height) and text.size.height >= self._height

    @property
    def is_at_end(self) -> bool:
        """Whether the last line of the text is visible."""
        body, keys = self.query_one("#dialog-body"), self.query_one(KeyBar)
        in_sight = self.is_laid_out and body.region.bottom <= keys.region.y
        return in_sight and body.scroll_offset.y >= body.max_scroll_y

    def ask_for_text(self, placeholder: str) -> None:
        """Show the text field, and focus it."""
        field = self.field
        field.placeholder = placeholder
        field.display = True
        field.focus()
        self.call_after_refresh(self._fit)

    def no_text(self) -> None:
        """Hide the text field."""
        self.field.display = False
        self.query_one("#dialog-body").focus()
        self.call_after_refresh(self._fit)

    @property
    def field(self) -> Input:
        """The text field."""
        return self.query_one("#dialog-input", Input)

    @property
    def is_composed(self) -> bool:
        """Whether its parts are there. Keys can come before anyone has seen the question."""
        return bool(self.query("#dialog-input"))

    @property
    def writes(self) -> bool:
        """Whether keys are text at the moment."""
        return self.is_composed and self.field.display and self.field.has_focus

    def action_leave(self) -> None:
        """Leave without answering."""
        self.dismiss(None)


class _Body(VerticalScroll):
    """The text of a dialog. It reports every change of its size.

    A layout can come later than the refresh that requested it, so our own refreshes don't show when
    the whole text is visible.
    """

    def on_resize(self) -> None:
        """Let the dialog check again, with the current sizes."""
        if isinstance(self.screen, AnswerDialog):
            self.screen.drawn()


class NameDialog(ModalScreen[str | None]):
    """Returns the name; an empty one removes it, None changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", priority=True),
        Binding("enter", "take", "Name it"),
    ]

    def __init__(self, whose: str, known: str) -> None:
        super().__init__()
        self._whose = whose
        self._known = known

    def compose(self) -> ComposeResult:
        """A text field."""
        with Vertical(id="dialog"):
            yield Static(f"Name for {self._whose}", id="dialog-title", markup=False)
            yield Input(self._known, max_length=_LONGEST, id="dialog-input")
            yield KeyBar(compact=True, show_command_palette=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Accept the name."""
        self.dismiss(event.value.strip())

    def action_take(self) -> None:
        """Accept the name."""
        self.dismiss(self.query_one(Input).value.strip())


class ConfirmDialog(ModalScreen[bool]):
    """Asks before something that can't be undone. risk: what could be lost."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm(True)", "Yes"),
        Binding("escape,n", "confirm(False)", "No", key_display="Esc"),
    ]

    def __init__(self, asks: str, risk: str = "") -> None:
        super().__init__()
        self._asks = asks
        self._risk = risk

    def compose(self) -> ComposeResult:
        """The question, and the keys."""
        with Vertical(id="dialog"):
            yield Static(Content.assemble((self._asks, "bold $needs")), id="dialog-title")
            yield Static(Content(self._risk), id="dialog-text")
            yield KeyBar(compact=True, show_command_palette=False)

    def action_confirm(self, yes: bool) -> None:
        """Take the answer."""
        self.dismiss(yes)
