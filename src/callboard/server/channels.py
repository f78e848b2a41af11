"""One stream of events and all of its readers: read once, encoded once, delivered together."""

import asyncio
from bisect import bisect_right, insort
from collections.abc import Callable, Mapping
from typing import Final

from callboard.board.unsaid_events import without_conversation
from callboard.drivers.execution import with_final_state
from callboard.engine.loading import view_at
from callboard.events import names
from callboard.events.envelope import Event
from callboard.log.protocol import EventLog, Limit, Portion
from callboard.server.frames import LARGEST_PAGE, Chunk, Page, Pages
from callboard.server.settings import ServerSettings

_KEPT: Final[dict[str, tuple[str, ...]]] = {names.TITLED: ("sessionId",)}
"""What an outline keeps of an event about another stream than its own."""
OUTLINE: Final = "\0outline"
"""The key of the channel with everything in outline. No session has it."""
UNSAID: Final = "\0unsaid"
"""The key of the channel with everything but conversations."""
EVERYTHING: Final[frozenset[str | None]] = frozenset({None, OUTLINE, UNSAID})
"""The keys of channels that have the events of all sessions."""


class ChannelSource:
    """Where a channel's events come from: one session, or all by global sequence.

    An outline has only which events happened, and which question or session they are about.
    Conversations that are in the log are only for those who may read them.
    """

    def __init__(self, log: EventLog, key: str | None) -> None:
        self.key = key
        self._shown = _SHOWN.get(key)
        self.session_id = session_id = None if key in EVERYTHING else key
        self.ends = session_id is not None
        """Whether the stream ends after a terminal event."""
        self._log = log

    async def read(self, after: int, upto: int, limit: Limit) -> list[tuple[int, Event]]:
        """The events after one position up to another, at most as many as the limit allows."""
        if self.session_id is None:
            found = await self._log.read_all(after, upto, limit)
            shown = self._shown
            return found if shown is None else [(at, shown(one)) for at, one in found]
        events = await self._log.read(self.session_id, after, upto, limit)
        if events and events[-1].name == names.COMPLETED:
            events = with_final_state(events, (await view_at(self._log, self.session_id)).state)
        return [(event.position, event) for event in events]

    @property
    def incarnation(self) -> int:
        """Changes if events that were read may be lost."""
        return self._log.incarnation

    async def head(self) -> int:
        """The last position."""
        if self.session_id is None:
            return await self._log.last_sequence()
        return await self._log.head(self.session_id)

    def listen(self, notify: Callable[[int | None], None]) -> Callable[[], None]:
        """Call `notify` when there is more; returns a function that stops it."""
        return self._log.on_change(self.session_id, notify)


def _outlined(event: Event) -> Event:
    keys = _KEPT.get(event.name, ("id",))
    kept = {key: event.payload[key] for key in keys if key in event.payload}
    return event._replace(payload=kept)


_SHOWN: Final[Mapping[str | None, Callable[[Event], Event]]] = {
    OUTLINE: _outlined,
    UNSAID: without_conversation,
}


class Channel:
    """Wakes its readers together, at most every `write_every` seconds.

    Readers don't wait for each other: each has its own position and reads on from there.
    """

    def __init__(self, source: ChannelSource, pages: Pages, settings: ServerSettings) -> None:
        self.readers = 0
        self.closed = False
        self.left = asyncio.Event()
        """Set when the last reader has left."""
        self.news = asyncio.Event()
        """Set when there may be more, or after a long silence. Get it before reading."""
        self._key = source.key
        self._source = source
        self._pages = pages
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._version = 0
        self._live: Page | None = None
        self.incarnation = source.incarnation
        """The history that its pages are from."""
        self._ends: list[int] = []
        """Positions where a page ended early because it was large enough."""
        self._is_there = False
        self._reading = asyncio.Lock()
        self._told_at = 0.0
        self._timer = self._loop.call_later(settings.heartbeat, self._tell)
        self._due = self._timer.when()
        self._undo = source.listen(self._notice)

    def _notice(self, head: int | None) -> None:
        self._version += 1
        if self._is_outdated():
            return
        due = max(self._loop.time(), self._told_at + self._settings.write_every)
        if due < self._due:
            self._arm(due)

    def _is_outdated(self) -> bool:
        """Close the channel if another server took over, which may lack what readers have.

        They return with their last event, which is then compared (`StreamReader.resume`).
        """
        if self.incarnation in (0, self._source.incarnation):
            self.incarnation = self._source.incarnation
        elif not self.closed:
            self.close()
        return self.closed

    def _arm(self, due: float) -> None:
        self._timer.cancel()
        self._due = due
        self._timer = self._loop.call_at(due, self._tell)

    def _tell(self) -> None:
        self._told_at = self._loop.time()
        told, self.news = self.news, asyncio.Event()
        told.set()
        self._arm(self._told_at + self._settings.heartbeat)

    async def after(self, place: int) -> Chunk:
        """The frames after a position, up to the end of its page."""
        while True:
            page = await self._page(place)
            chunk = page.chunk(place)
            if chunk.data or chunk.ended or not chunk.more:
                return chunk
            place = page.upto

    async def _page(self, place: int) -> Page:
        """The page that contains a position, or starts with it."""
        while True:
            after, upto = self._stretch(place)
            page = self._known(after) or await self._read(after, upto)
            if place < page.upto or not page.full:
                return page
            # Large events come in between: what follows the position starts its own page.
            self._end(page.upto)
            self._end(place)

    def _stretch(self, place: int) -> tuple[int, int]:
        """The page's start and end: at fixed intervals, or where a page ended early."""
        size = self._settings.page
        first = place // size * size
        next = bisect_right(self._ends, place)
        after = max(first, self._ends[next - 1]) if next else first
        upto = first + size
        return after, min(upto, self._ends[next]) if next < len(self._ends) else upto

    def _end(self, place: int) -> None:
        if place not in self._ends:
            insort(self._ends, place)

    def _known(self, after: int) -> Page | None:
        live = self._live
        if live is not None and live.after == after and live.seen == self._version:
            return live
        return self._pages.get((self._key, after, self.incarnation))

    async def _read(self, after: int, upto: int) -> Page:
        async with self._reading:
            page = self._live
            if page is None or page.after != after:
                page = Page(after, upto)
            if page.seen != self._version:
                await self._fill(page)
            if page.full or page.ended:
                self._pages.keep((self._key, after, self.incarnation), page)
                self._live = None if self._live is page else self._live
            elif self._live is None or page.after >= self._live.after:
                self._live = page
            return page

    async def _fill(self, page: Page) -> None:
        version = self._version
        # Read first: events written in between may belong to this page.
        head = await self._source.head()
        was_there, self._is_there = self._is_there, head > 0
        if self._source.ends and was_there and not head:
            # Another process deleted the session; its readers have nothing to wait for.
            self.close()
            return
        room = Portion(self._settings.page, max(1, LARGEST_PAGE - page.size))
        found = await self._source.read(page.last, page.upto, room)
        if self._is_outdated():
            return  # Some of it may be from before, and the rest from after.
        for place, event in found:
            # A fork may contain its parent's end, followed by more events.
            page.add(place, event, ends=self._source.ends and place >= head)
        if page.size >= LARGEST_PAGE:
            page.cut()
            self._end(page.upto)
        page.passed, page.seen = head > page.upto, version

    def forget(self) -> None:
        """Drop cached pages after a deletion."""
        self._pages.forget(self._key)
        self._live = None

    def close(self) -> None:
        """Stop following the log. Waiting readers are woken and find the channel closed."""
        self.closed = True
        self._undo()
        self._timer.cancel()
        self.news.set()
