"""Conversations of coding agents in the terminal: found by an id, read, and printed."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Final

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli.format import moment
from callboard.cli.questions import print_lines
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.conversation import KnownItems, call_line, item_lines, speaker
from callboard.display.lines import Bounds
from callboard.errors import NotFound
from callboard.events.moments import from_ms
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationPage,
    FoundItem,
    Window,
)
from callboard.vendors.conversation_items import joined

MOST_FOUND: Final = 50
_WAIT: Final = 20.0
_MOST_OPEN: Final = 1000
_BOUNDS: Final = 40, 2000
_FEW_LINES: Final = 4


class AgentConversation:
    """The conversation of a plate, or one that a tool call of it started, in parts."""

    def __init__(self, board: Board, plate: Plate, subagent: str | None) -> None:
        self._board = board
        self._plate = plate
        self._subagent = subagent

    async def page(self, window: Window, wait: float = 0.0) -> ConversationPage:
        """A part of it."""
        return await self._board.conversations.page(
            self._plate.plate_id, window, subagent=self._subagent, wait=wait
        )

    async def last(self, count: int) -> KnownItems:
        """The last items, at least so many if there are."""
        known = KnownItems()
        known.add(await self.page(Window(most=min(count, MOST_ITEMS))))
        while known.before is not None and len(known.items) < count:
            most = min(count - len(known.items), MOST_ITEMS)
            known.add_before(await self.page(Window(before=known.before, most=most)))
        return known

    async def all(self) -> AsyncIterator[ConversationPage]:
        """Every part, the first one first. However long it is, one part is in memory at a time."""
        page = await self.page(Window(most=MOST_ITEMS))
        while page.before is not None:
            page = await self.page(Window(before=page.before, most=MOST_ITEMS))
        while True:
            yield page
            later = await self.page(Window(after=page.after, most=MOST_ITEMS))
            if later.after == page.after:
                return
            page = later

    async def following(self, after: str) -> AsyncIterator[ConversationPage]:
        """What is added to it, as soon as it is."""
        while True:
            page = await self.page(Window(after=after, most=MOST_ITEMS), wait=_WAIT)
            after = page.after
            if page.items:
                yield page

    async def item(self, item_id: str) -> ConversationItem:
        """One message in full."""
        window = Window(most=MOST_ITEMS)
        while True:
            page = await self.page(window)
            if any(one.id == item_id for one in page.items):
                return await self._board.conversations.item(
                    self._plate.plate_id, item_id, page.after, subagent=self._subagent
                )
            if page.before is None:
                raise NotFound(
                    f"There is no message {item_id!r} in the conversation of "
                    f"{self._plate.plate_id}. Find one with --search TEXT.",
                    item_id=item_id,
                )
            window = Window(before=page.before, most=MOST_ITEMS)

    async def search(self, text: str) -> tuple[list[FoundItem], bool]:
        """The newest messages with a text, and whether there are more."""
        found, before = dict[str, FoundItem](), None
        while len(found) < MOST_FOUND:
            matches = await self._board.conversations.search(
                self._plate.plate_id, text, before=before, subagent=self._subagent
            )
            found |= {one.id: one for one in matches.found if one.id not in found}
            before = matches.before
            if before is None:
                break
        return [*found.values()][:MOST_FOUND], before is not None


class ConversationPrinter:
    """Prints messages; the result of a call that is on the screen gets a line of its own.

    link: the command that shows one message in full, by its id.
    """

    def __init__(
        self, screen: Screen, plate: Plate, link: Callable[[str], str], now: datetime
    ) -> None:
        self._screen = screen
        self._plate = plate
        self._folder = plate.project_path.rstrip("/")
        self._link = link
        self._now = now
        self._speaker = ""
        self._open: dict[str, ConversationItem] = {}

    def print(self, items: Sequence[ConversationItem], *, full: bool = False) -> None:
        """Print messages after those that are on the screen."""
        for item in items:
            if item.kind != "usage":
                self._print(item, full=full)

    def _print(self, item: ConversationItem, *, full: bool) -> None:
        called = self._open.pop(item.id, None)
        if called is not None:
            item = joined(called, item)
        if item.tool is not None and item.tool.status == "running":
            if called is not None:
                return
            if len(self._open) < _MOST_OPEN:
                self._open[item.id] = item
        said = speaker(item, self._plate.agent)
        if said != self._speaker:
            self._speaker = said
            at = "" if item.at is None else f"  {moment(from_ms(item.at), self._now)}"
            self._screen.line((said, "name"), (at, "faint"))
        if called is not None and not full and item.tool is not None:
            print_lines(self._screen, [call_line(item.tool, folder=self._folder)], indent="")
        else:
            bounds = None if full else self._bounds(item.id)
            lines = item_lines(item, full=full, bounds=bounds, folder=self._folder)
            print_lines(self._screen, lines, indent="")

    def _bounds(self, item_id: str) -> Bounds:
        return Bounds(*_BOUNDS, self._link(item_id))


def print_before(screen: Screen, items: Sequence[ConversationItem]) -> None:
    """Print the messages that led to a question, shortened."""
    for item in items:
        mark = "> " if item.author == "person" else ""
        for line in item_lines(item, bounds=Bounds(_FEW_LINES, 400, "callboard transcript")):
            lead = line.lead + (mark if mark and not line.blank else "")
            screen.line((f"{lead}{line.text}", "faint"))
    if items:
        screen.line()


def link(place: Target, plate: Plate, subagent: str | None, item_id: str) -> str:
    """The command that shows one message."""
    nested = () if subagent is None else ("--subagent", subagent)
    return place.command("transcript", f"{plate.plate_id}#{item_id}", *nested)
