"""The conversation of one agent on the whole screen: read, searched and copied as it grows."""

import contextlib
from collections.abc import Callable, Coroutine
from shlex import join
from typing import ClassVar, Final, cast

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from callboard.board.plate import Plate
from callboard.clock import Clock
from callboard.display.amounts import total_text
from callboard.display.conversation import KnownItems, item_lines
from callboard.errors import CallboardError, TranscriptUnreadable
from callboard.events.moments import from_ms
from callboard.tui.changes import ChangesScreen
from callboard.tui.conversation_view import ConversationView
from callboard.tui.interrupting import ask_to_interrupt
from callboard.tui.key_bar import KeyBar
from callboard.tui.messages import MessagesScreen
from callboard.tui.source import Source
from callboard.tui.text import one_line
from callboard.vendors.conversation import ConversationItem, ConversationPage, FoundItem, Window

_FIRST: Final = 60
_PAGE: Final = 200
_WAIT: Final = 15.0
_AGAIN_AFTER: Final = 2.0
_FURTHEST: Final = 40
"""Pages that are read to reach a message that was found."""


class ConversationScreen(ModalScreen[None]):
    """What an agent did. subagent: the conversation that one of its tool calls started."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back", key_display="Esc"),
        Binding("s", "say", "Say"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("n", "hit(1)", "Next"),
        Binding("N", "hit(-1)", "Previous match", show=False),
        Binding("o", "subagent", "Subagent"),
        Binding("f", "files", "Files"),
        Binding("i", "interrupt", "Interrupt", show=False),
        Binding("y", "copy", "Copy"),
        Binding("l", "copy_link", "Link"),
    ]

    def __init__(
        self, source: Source, plate: Plate, title: str, clock: Clock, subagent: str | None = None
    ) -> None:
        super().__init__()
        self._source = source
        self._plate = plate
        self._whose = title
        self._clock = clock
        self._subagent = subagent
        self._known = KnownItems()
        self._problem = ""
        self._used = ""
        self._is_loading = False
        self._found: list[FoundItem] = []
        self._at = 0

    def compose(self) -> ComposeResult:
        """A title, the messages, a field to search, and the keys."""
        yield Static(id="talk-title")
        yield ConversationView(self._plate, self._command, from_ms(self._clock.now_ms()), id="talk")
        yield Input(id="talk-search", placeholder="Search this conversation")
        yield KeyBar(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Start reading."""
        self._view.focus()
        self._show()
        self.run_worker(self._follow())

    @property
    def _view(self) -> ConversationView:
        return self.query_one("#talk", ConversationView)

    @property
    def _terminal(self) -> App[None]:
        return cast("App[None]", self.app)  # pyright: ignore[reportUnknownMemberType]

    def _command(self, item_id: str) -> str:
        nested = () if self._subagent is None else ("--subagent", self._subagent)
        # Ids come from transcripts, and the command is pasted into a shell.
        return join(["callboard", "transcript", f"{self._plate.plate_id}#{item_id}", *nested])

    def _show(self) -> None:
        if not self.query("#talk-title"):
            return
        more = " · earlier messages above" if self._known.before is not None else ""
        count = f"{len(self._known.items):,} messages{more}"
        told = self._problem or ("reading …" if self._known.after is None else count)
        if self._used and not self._problem:
            told = f"{told} · {self._used}"
        if self._found and not self._problem:
            told = f"match {self._at + 1} of {len(self._found)} · {told}"
        self.query_one("#talk-title", Static).update(
            Content.assemble((one_line(self._whose), "bold"), "  ", (one_line(told), "$faint"))
        )

    def _show_items(self) -> None:
        self._view.show(self._known.items)
        self._show()
        self.refresh_bindings()

    # ------------------------------------------------------------------ reading

    async def _read(self, window: Window, wait: float = 0.0) -> ConversationPage:
        return await self._source.conversation(
            self._plate.plate_id, window, subagent=self._subagent, wait=wait
        )

    async def _follow(self) -> None:
        """Read it, then what is added, for as long as the screen is open."""
        while self.is_attached:
            after = self._known.after
            try:
                first = Window(most=_FIRST)
                page = await self._read(Window(after=after) if after else first, _WAIT)
            except CallboardError as error:
                self._problem = error.message
                if isinstance(error, TranscriptUnreadable):
                    self._known = KnownItems()
                self._show_items()
                await self._clock.sleep(_AGAIN_AFTER)
                continue
            is_new, self._problem = self._problem != "" or after is None, ""
            self._known.add(page)
            if is_new or not page.items:
                await self._read_used()
            if page.items or page.restarted or is_new:
                self._show_items()

    async def _read_used(self) -> None:
        """Read what the agent has used. Its own conversation matters more than this."""
        if self._subagent is None:
            with contextlib.suppress(CallboardError):
                used = await self._source.used(self._plate.plate_id)
                self._used = total_text(used.tokens, used.cost) if used.tokens else ""
                self._show()

    async def _read_earlier(self) -> bool:
        """Read the part before; returns whether there was one."""
        before = self._known.before
        if before is None or self._is_loading:
            return False
        self._is_loading = True
        try:
            self._known.add_before(await self._read(Window(before=before, most=_PAGE)))
        finally:
            self._is_loading = False
        self._show_items()
        return True

    def _do(self, what: Callable[[], Coroutine[object, object, object]]) -> None:
        async def doing() -> None:
            try:
                await what()
            except CallboardError as error:
                self.notify(one_line(error.message), severity="error", markup=False)

        self.run_worker(doing())

    @on(ConversationView.Reached)
    def _on_reached(self) -> None:
        self._do(self._read_earlier)

    @on(ConversationView.Unfolded)
    def _on_unfolded(self, message: ConversationView.Unfolded) -> None:
        self._do(lambda: self._all_of(message.item))

    async def _all_of(self, item: ConversationItem) -> ConversationItem:
        """Get all of a message of which only the start is here."""
        cursor = self._known.cursor_of(item.id)
        if not item.cut or cursor is None:
            return item
        found = await self._source.conversation_item(
            self._plate.plate_id, item.id, cursor, subagent=self._subagent
        )
        self._known.items = [found if one.id == found.id else one for one in self._known.items]
        self._show_items()
        return found

    # ------------------------------------------------------------------ searching

    def action_search(self) -> None:
        """Type what to search for."""
        field = self.query_one("#talk-search", Input)
        field.add_class("shown")
        field.focus()

    @on(Input.Submitted, "#talk-search")
    def _on_search(self, event: Input.Submitted) -> None:
        self._leave_search()
        text = event.value.strip()
        if not text:
            self._found = []
            self._view.hits = frozenset()
            self._show()
            return

        async def search() -> None:
            found = await self._source.conversation_search(
                self._plate.plate_id, text, subagent=self._subagent
            )
            self._found, self._at = found, 0
            self._view.hits = frozenset(one.id for one in found)
            if not found:
                self.notify("No matching messages.", markup=False)
                self._show()
            else:
                await self._go_to(found[0])

        self._do(search)

    def _leave_search(self) -> None:
        self.query_one("#talk-search", Input).remove_class("shown")
        self._view.focus()

    def action_hit(self, by: int) -> None:
        """Go to the next match, which is an earlier message, or to the previous one."""
        if self._found:
            self._at = (self._at + by) % len(self._found)
            self._do(lambda: self._go_to(self._found[self._at]))

    async def _go_to(self, found: FoundItem) -> None:
        for _ in range(_FURTHEST):
            if any(one.id == found.id for one in self._known.items):
                self._view.select(found.id)
                return self._show()
            if not await self._read_earlier():
                break
        command = self._command(found.id)
        self.notify(f"This is too far back. See it with: {command}", markup=False)
        return None

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work at the moment."""
        if action == "hit":
            return bool(self._found)
        if action == "subagent":
            return self._has_subagent()
        return True

    def _has_subagent(self) -> bool:
        return any(one.tool is not None and one.tool.subagent for one in self._known.items)

    def action_leave(self) -> None:
        """Leave the search field, or the screen."""
        if self.query_one("#talk-search", Input).has_focus:
            self._leave_search()
        else:
            self.dismiss(None)

    def action_subagent(self) -> None:
        """Open the conversation that the selected tool call started."""
        item = self._view.selected
        subagent = None if item is None or item.tool is None else item.tool.subagent
        if subagent is None:
            return self.notify("Select a call that started a subagent.", markup=False)
        title = f"{self._whose} › {subagent}"
        nested = ConversationScreen(self._source, self._plate, title, self._clock, subagent)
        self._terminal.push_screen(nested)
        return None

    def action_say(self) -> None:
        """Write to the agent."""
        screen = MessagesScreen(self._source, self._plate, self._whose, self._clock)
        self._terminal.push_screen(screen)

    def action_files(self) -> None:
        """Show what the agent changed."""
        screen = ChangesScreen(self._source, self._plate, self._whose, self._clock)
        self._terminal.push_screen(screen)

    def action_interrupt(self) -> None:
        """Stop the agent's turn."""
        ask_to_interrupt(self._terminal, self._source, self._plate, self._whose)

    def action_copy(self) -> None:
        """Copy the selected message."""
        if (selected := self._view.selected) is None:
            return

        async def copy() -> None:
            item = await self._all_of(selected)
            lines = item_lines(item, full=True)
            text = item.text or "\n".join(f"{one.lead}{one.text}" for one in lines)
            self._terminal.copy_to_clipboard(text)
            self.notify("Copied the message.", markup=False)

        self._do(copy)

    def action_copy_link(self) -> None:
        """Copy the command that shows the selected message."""
        item = self._view.selected
        if item is not None:
            self._terminal.copy_to_clipboard(self._command(item.id))
            self.notify(self._command(item.id), title="Copied", markup=False)
