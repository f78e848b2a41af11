"""Events as frames of a stream, encoded once and kept for further readers.

A page holds the frames of a stretch of places: positions of a session, or sequence numbers of
the whole log. A full page never changes, so that readers who come later share it.
"""

from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple

import orjson

from callboard.errors import Overloaded
from callboard.events.envelope import Event
from callboard.events.names import TERMINAL
from callboard.server.memory import MemoryBudget

LARGEST_PAGE = 1_048_576
"""Bytes after which a page ends early; one frame may have more."""

_LARGEST_CHUNK = 131_072
"""Bytes that are written at once; one frame may have more."""
_CHUNKS = 8
"""How many chunks of one page are remembered."""

HEARTBEAT = b":\n\n"
"""A comment, which no reader sees, to keep what lies between from closing the connection."""


def frame(place: int, event: Event) -> bytes:
    """One event as `EventSource.onmessage` receives it: without a name of its own."""
    return b"id: %d\ndata: %b\n\n" % (place, orjson.dumps(event.to_wire()))


class Chunk(NamedTuple):
    """Frames that are written together: their bytes, the last place, and what comes then.

    ended: nothing, the stream is over.
    more: perhaps something that is there already, so that there is nothing to wait for.
    """

    data: bytes
    last: int
    ended: bool
    more: bool


class Page:
    """The frames after one place and up to another, as far as they have happened."""

    __slots__ = (  # many are kept
        "_chunks", "_frames", "_places", "after", "ended", "passed", "seen", "size", "upto",
    )  # fmt: skip

    def __init__(self, after: int, upto: int) -> None:
        self.after = after
        self.upto = upto
        self.seen = -1
        """Up to which version of its channel the page has been read."""
        self.size = 0
        self.ended = False
        self.passed = False
        """Whether there is something after this page, though its own end was never written."""
        self._places: list[int] = []
        self._frames: list[bytes] = []
        # Readers mostly stand at the same place, and take the same.
        self._chunks: dict[int, Chunk] = {}

    @property
    def last(self) -> int:
        """The last place that is filled."""
        return self._places[-1] if self._places else self.after

    @property
    def full(self) -> bool:
        """Whether nothing can be added any more."""
        return self.last >= self.upto or self.passed

    def cut(self) -> None:
        """End the page with what it holds: it is large enough."""
        self.upto = self.last

    def add(self, place: int, event: Event, *, ends: bool) -> None:
        """Encode an event and put it behind the others."""
        encoded = frame(place, event)
        self._chunks.clear()
        self._places.append(place)
        self._frames.append(encoded)
        self.size += len(encoded)
        self.ended = ends and event.name in TERMINAL

    def chunk(self, after: int) -> Chunk:
        """What comes after a place."""
        known = self._chunks.get(after)
        # Whether more may come is known of the last chunk only at this moment.
        if known is None or (known.last == self.last and known.more is not self.full):
            if len(self._chunks) >= _CHUNKS:
                self._chunks.clear()
            known = self._chunks[after] = self._joined(bisect_right(self._places, after))
        return known

    def _joined(self, first: int) -> Chunk:
        """Frames from one on, as many as a reader that is slow may hold here."""
        size, end = 0, first
        while end < len(self._frames) and (size < _LARGEST_CHUNK or end == first):
            size += len(self._frames[end])
            end += 1
        data, is_all = b"".join(self._frames[first:end]), end == len(self._frames)
        if is_all:
            return Chunk(data, self.last, self.ended, self.full)
        return Chunk(data, self._places[end - 1], ended=False, more=True)


PageKey = tuple[str | None, int]
"""A channel, by its session or None for everything, and the place after which a page starts."""


class Pages:
    """Full pages, the least recently used of which are forgotten when they weigh too much."""

    def __init__(self, most_bytes: int, memory: MemoryBudget) -> None:
        self._most = most_bytes
        self._holding = memory.holding("cache", self.clear)
        self._pages: OrderedDict[PageKey, Page] = OrderedDict()

    def get(self, key: PageKey) -> Page | None:
        """A page that is still here."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
        return page

    def keep(self, key: PageKey, page: Page) -> None:
        """Keep a full page for as long as there is room."""
        if key in self._pages or not page.size:
            return
        while self._pages and self._holding.held + page.size > self._most:
            _, oldest = self._pages.popitem(last=False)
            self._holding.give(oldest.size)
        try:
            self._holding.take(page.size)
        except Overloaded:
            return  # It can be read again.
        self._pages[key] = page

    def clear(self) -> None:
        """Let go of everything: others need the memory."""
        self._pages.clear()
        self._holding.release()

    def forget(self, channel: str | None) -> None:
        """Let go of a channel's pages: what they hold was deleted."""
        for key in [key for key in self._pages if key[0] == channel]:
            self._holding.give(self._pages.pop(key).size)
