"""Messages to one agent on the whole screen: their receipts, those that wait, and a new one."""

from collections.abc import Coroutine, Iterator, Sequence
from typing import ClassVar, Final, cast

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from callboard.board.messages import MessageStatus, PlateMessage, PlateMessages
from callboard.board.plate import Plate
from callboard.clock import Clock
from callboard.display.lines import one_line
from callboard.display.message_receipts import command_note, how_delivered, message_receipt
from callboard.errors import CallboardError
from callboard.tui.interrupting import ask_to_interrupt
from callboard.tui.key_bar import KeyBar
from callboard.tui.source import Source
from callboard.tui.text import age, clipped
from callboard.vendors.steering import When

_LOOK_EVERY: Final = 1.0
_MOST_LINES: Final = 6
"""Lines of a message that are listed. Editing or copying it shows all of them."""
_WHENS: Final[dict[When, str]] = {"now": "Now", "after_turn": "After this turn"}
_OPEN: Final = ("queued", "handed", "held")
_LOOKS: Final[dict[MessageStatus, str]] = {
    "held": "bold $needs",
    "delivered": "$success",
    "seen": "$success",
    "lost": "bold $error",
    "withdrawn": "$faint",
}
_ENDED: Final = "This session has ended. Resume it (r on the board) to write to it."


class MessagesScreen(ModalScreen[bool]):
    """Write to an agent. Returns whether a message was sent.

    draft: a text to send, below what the person had written and not sent.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", priority=True),
        Binding("ctrl+t", "when", "When", priority=True),
        Binding("ctrl+j", "line_break", "New line", priority=True),
        Binding("e", "edit", "Edit"),
        Binding("w", "withdraw", "Withdraw"),
        Binding("K,shift+up", "move(-1)", "Up", key_display="K"),
        Binding("J,shift+down", "move(1)", "Down", key_display="J"),
        Binding("a", "again", "Write again"),
        Binding("y", "copy", "Copy"),
        Binding("i", "interrupt", "Interrupt"),
        Binding("tab", "other", "List/text", priority=True),
        Binding("escape", "leave", "Back", key_display="Esc", priority=True),
    ]

    def __init__(
        self, source: Source, plate: Plate, title: str, clock: Clock, draft: str | None = None
    ) -> None:
        super().__init__()
        self._source = source
        self._plate = plate
        self._whose = title
        self._clock = clock
        self._told: PlateMessages | None = None
        self._problem = ""
        self._when: When = "now"
        self._editing: PlateMessage | None = None
        self._was_sent = False
        kept = source.drafts.texts.get(plate.plate_id, "").rstrip()
        if draft is not None and draft not in kept:
            source.drafts.texts[plate.plate_id] = f"{kept}\n\n{draft}" if kept else draft

    def compose(self) -> ComposeResult:
        """A title, the messages, how the next one will be delivered, a text field, the keys."""
        yield Static(id="talk-title")
        yield OptionList(id="say-list", markup=False)
        yield Static(id="say-how")
        yield TextArea(
            self._kept, id="say-text", placeholder="Write a message", highlight_cursor_line=False
        )
        yield KeyBar(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Start reading."""
        self._text.move_cursor(self._text.document.end)
        self._text.focus()
        self._show()
        self.run_worker(self._follow())

    @property
    def _kept(self) -> str:
        return self._source.drafts.texts.get(self._plate.plate_id, "")

    @property
    def _text(self) -> TextArea:
        return self.query_one("#say-text", TextArea)

    @property
    def _list(self) -> OptionList:
        return self.query_one("#say-list", OptionList)

    @property
    def _terminal(self) -> App[None]:
        return cast("App[None]", self.app)  # pyright: ignore[reportUnknownMemberType]

    @property
    def _messages(self) -> Sequence[PlateMessage]:
        return () if self._told is None else self._told.messages

    @property
    def _queued(self) -> list[PlateMessage]:
        return [one for one in self._messages if one.status == "queued"]

    @property
    def _selected(self) -> PlateMessage | None:
        # The keys are shown again while the screen is taken down.
        at = self._list.highlighted if self.query("#say-list") else None
        return None if at is None or at >= len(self._messages) else self._messages[at]

    # ------------------------------------------------------------------ showing

    async def _follow(self) -> None:
        """Read the messages for as long as the screen is open."""
        while self.is_attached:
            await self._look()
            await self._clock.sleep(_LOOK_EVERY)

    async def _look(self) -> None:
        before = self._told
        try:
            self._told = await self._source.messages(self._plate.plate_id)
            self._plate = await self._source.plate(self._plate.plate_id) or self._plate
            self._problem = ""
        except CallboardError as error:
            self._problem = error.message
        if self._told is not None and self._told != before and self.query("#say-list"):
            self._list_messages(self._told.messages)
        self._show()

    def _list_messages(self, messages: Sequence[PlateMessage]) -> None:
        shown, at = self._list, self._list.highlighted
        known = None if at is None else shown.get_option_at_index(at).id
        now_ms = self._clock.now_ms()
        shown.set_options(Option(_entry(one, now_ms), id=one.id) for one in messages)
        ids = [one.id for one in messages]
        if ids:
            shown.highlighted = ids.index(known) if known in ids else len(ids) - 1
        if not shown.has_focus:
            shown.scroll_end(animate=False)
        self.refresh_bindings()

    def _show(self) -> None:
        if not self.query("#say-how"):
            return
        waiting = sum(one.status in _OPEN for one in self._messages)
        count = f"{waiting} waiting" if waiting else "Messages"
        told = one_line(self._problem) if self._problem else count
        title = Content.assemble((one_line(self._whose), "bold"), "  ", (told, "$faint"))
        self.query_one("#talk-title", Static).update(title)
        self.query_one("#say-how", Static).update(self._how())

    def _how(self) -> Content:
        if self._editing is not None:
            told = f"Editing a queued message · {_WHENS[self._when]}. Enter: save · Esc: cancel"
            return Content.styled(told, "$needs")
        if self._plate.status == "closed":
            return Content.styled(_ENDED, "$needs")
        if self._told is None:
            return Content.styled("Checking how the agent can be reached …", "$faint")
        reach = self._told.reach
        how = how_delivered(reach, self._when, idle=self._plate.status == "idle")
        look = "$needs" if reach.way is None else "$faint"
        return Content.assemble((f"{_WHENS[self._when]} · ", "bold"), (how, look))

    # ------------------------------------------------------------------ writing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work at the moment."""
        if not self.query("#say-text"):
            return action == "leave"
        if self._text.has_focus:
            return action in ("send", "when", "line_break", "other", "leave")
        one = self._selected
        match action:
            case "edit" | "withdraw":
                return one is not None and one.status == "queued"
            case "move":
                return one is not None and one.status == "queued" and len(self._queued) > 1
            case "again":
                return one is not None and one.status in ("lost", "withdrawn")
            case "copy":
                return one is not None
            case _:
                return action not in ("send", "when", "line_break")

    @on(TextArea.Changed)
    def _on_changed(self) -> None:
        if self._editing is None:
            self._source.drafts.texts[self._plate.plate_id] = self._text.text

    @on(OptionList.OptionHighlighted)
    def _on_highlighted(self) -> None:
        self.refresh_bindings()

    def action_line_break(self) -> None:
        """Continue the message on a new line."""
        self._text.insert("\n")

    def action_when(self) -> None:
        """Deliver it now, or after this turn."""
        self._when = "after_turn" if self._when == "now" else "now"
        self._show()

    def action_other(self) -> None:
        """Go to the list, or to the text field."""
        if self._text.has_focus and self._messages:
            self._list.focus()
        else:
            self._text.focus()
        self.refresh_bindings()

    def action_send(self) -> None:
        """Send the message, or save the one that is edited."""
        text = self._text.text
        if not text.strip():
            return
        plate_id, edited = self._plate.plate_id, self._editing
        if edited is None:
            self._do(self._send(text))
        else:
            self._stop_editing()
            changed = self._source.change_message(plate_id, edited.id, text=text, when=self._when)
            self._when = "now"
            self._do(changed)

    async def _send(self, text: str) -> None:
        await self._source.say(self._plate.plate_id, text, self._when)
        self._was_sent = True
        if self._text.text == text:
            self._text.text = ""
        if note := command_note(text):
            self.notify(note, markup=False)

    def action_leave(self) -> None:
        """Stop editing, or leave the screen; what was written is kept."""
        if self._editing is not None:
            self._when = "now"
            self._stop_editing()
        else:
            self.dismiss(self._was_sent)

    # ------------------------------------------------------------------ what waits

    def action_edit(self) -> None:
        """Edit the selected message."""
        one = self._selected
        if one is not None and one.status == "queued":
            self._editing, self._when = one, one.when
            self._text.text = one.text
            self._text.move_cursor(self._text.document.end)
            self._text.focus()
            self._show()

    def _stop_editing(self) -> None:
        self._editing = None
        self._text.text = self._kept
        self._show()

    def action_withdraw(self) -> None:
        """Take back the selected message."""
        one = self._selected
        if one is not None:
            self._do(self._source.withdraw(self._plate.plate_id, one.id))

    def action_move(self, by: int) -> None:
        """Move the selected message up or down among those that wait."""
        one, queued = self._selected, self._queued
        if one is None or one not in queued:
            return
        at = queued.index(one) + by
        if not 0 <= at < len(queued):
            return
        after = at if by < 0 else at + 1
        before = queued[after].id if after < len(queued) else ""
        self._do(self._source.change_message(self._plate.plate_id, one.id, before=before))

    def action_again(self) -> None:
        """Write a lost message again: add its text to the draft."""
        one = self._selected
        if one is not None:
            written = self._text.text.rstrip()
            self._text.text = f"{written}\n\n{one.text}" if written else one.text
            self._text.move_cursor(self._text.document.end)
            self._text.focus()

    def action_copy(self) -> None:
        """Copy the selected message."""
        if self._selected is not None:
            self._terminal.copy_to_clipboard(self._selected.text)
            self.notify("Copied the message.", markup=False)

    def action_interrupt(self) -> None:
        """Stop the agent's turn."""
        ask_to_interrupt(self._terminal, self._source, self._plate, self._whose)

    def _do(self, what: Coroutine[object, object, None]) -> None:
        async def doing() -> None:
            try:
                await what
            except CallboardError as error:
                self.notify(one_line(error.message), severity="error", markup=False)
            await self._look()

        self.run_worker(doing())


def _entry(one: PlateMessage, now_ms: int) -> Content:
    """A message, its receipt, and who wrote it."""
    return Content.assemble(*_parts(one, now_ms)).rstrip()


def _parts(one: PlateMessage, now_ms: int) -> Iterator[tuple[str, str]]:
    yield (message_receipt(one.status, one.note and one_line(one.note)), _LOOKS.get(one.status, ""))
    about = [_WHENS[one.when]] if one.status == "queued" else []
    about += [f"by {one_line(one.by)}"] if one.by else []
    about.append(f"{age(one.closed_at or one.created_at, now_ms)} ago")
    yield (f"  {', '.join(about)}\n", "$faint")
    for line in clipped(one.text, _MOST_LINES):
        yield (f"  {line}\n", "")
