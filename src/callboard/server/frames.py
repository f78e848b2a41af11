"""Events as frames of a stream, encoded once and cached for other readers.

A page has the frames for a range of positions in a session, or of sequence numbers in the whole
log. A full page never changes, so later readers share it.
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
"""Bytes after which a page ends early. A single frame may be larger."""

_LARGEST_CHUNK = 131_072
"""Bytes to write at once. A single frame may be larger."""
_CHUNKS = 8
"""The number of chunks to cache per page."""

HEARTBEAT = b":\n\n"
"""A comment, invisible to readers, that keeps proxies from closing the connection."""


def frame(place: int, event: Event) -> bytes:
    """One event as `EventSource.onmessage` receives it: without an event name."""
    return b"id: %d\ndata: %b\n\n" % (place, orjson.dumps(event.to_wire()))


class Chunk(NamedTuple):
    """Frames that are written together: their bytes and the last position.

    ended: the stream is over.
    more: there may already be more, so don't wait.
    """

    data: bytes
    last: int
    ended: bool
    more: bool


class Page:
    """The frames after one position up to another, as far as they exist."""

    __slots__ = (  # many are kept
        "_chunks", "_frames", "_places", "after", "ended", "passed", "seen", "size", "upto",
    )  # fmt: skip

    def __init__(self, after: int, upto: int) -> None:
        self.after = after
        self.upto = upto
        self.seen = -1
        """The version of the channel up to which the page has been read."""
        self.size = 0
        self.ended = False
        self.passed = False
        """Whether there are events after this page, though its last position was never written."""
        self._places: list[int] = []
        self._frames: list[bytes] = []
        # Most readers are at the same position and need the same chunk.
        self._chunks: dict[int, Chunk] = {}

    @property
    def last(self) -> int:
        """The last filled position."""
        return self._places[-1] if self._places else self.after

    @property
    def full(self) -> bool:
        """Whether nothing can be added."""
        return self.last >= self.upto or self.passed

    def cut(self) -> None:
        """End the page here, because it is large enough."""
        self.upto = self.last

    def add(self, place: int, event: Event, *, ends: bool) -> None:
        """Encode and append an event."""
        encoded = frame(place, event)
        self._chunks.clear()
        self._places.append(place)
        self._frames.append(encoded)
        self.size += len(encoded)
        self.ended = ends and event.name in TERMINAL

    def chunk(self, after: int) -> Chunk:
        """The chunk after a position."""
        known = self._chunks.get(after)
        # For the last chunk, whether more may follow can change.
        if known is None or (known.last == self.last and known.more is not self.full):
            if len(self._chunks) >= _CHUNKS:
                self._chunks.clear()
            known = self._chunks[after] = self._joined(bisect_right(self._places, after))
        return known

    def _joined(self, first: int) -> Chunk:
        """Frames from an index on, up to the size that a slow reader may hold."""
        size, end = 0, first
        while end < len(self._frames) and (size < _LARGEST_CHUNK or end == first):
            size += len(self._frames[end])
            end += 1
        data, is_all = b"".join(self._frames[first:end]), end == len(self._frames)
        if is_all:
            return Chunk(data, self.last, self.ended, self.full)
        return Chunk(data, self._places[end - 1], ended=False, more=True)


PageKey = tuple[str | None, int, int]
"""A channel (a session, or None for everything), the position before its start, the incarnation."""


class Pages:
    """A cache of full pages that drops the least recently used when it gets too large."""

    def __init__(self, most_bytes: int, memory: MemoryBudget) -> None:
        self._most = most_bytes
        self._holding = memory.holding("cache", self.clear)
        self._pages: OrderedDict[PageKey, Page] = OrderedDict()

    def get(self, key: PageKey) -> Page | None:
        """A cached page."""
        page = self._pages.get(key)
        if page is not None:
            self._pages.move_to_end(key)
        return page

    def keep(self, key: PageKey, page: Page) -> None:
        """Cache a full page while there is room."""
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
        """Drop everything to free memory."""
        self._pages.clear()
        self._holding.release()

    def forget(self, channel: str | None) -> None:
        """Drop a channel's pages, because their events were deleted."""
        for key in [key for key in self._pages if key[0] == channel]:
            self._holding.give(self._pages.pop(key).size)
