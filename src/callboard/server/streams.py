"""All channels with readers, and the readers themselves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager, suppress

from callboard.log.history import Bookmark
from callboard.log.protocol import EventLog
from callboard.server.channels import EVERYTHING, OUTLINE, UNSAID, Channel, ChannelSource
from callboard.server.frames import HEARTBEAT, Pages
from callboard.server.memory import STREAMS, MemoryBudget
from callboard.server.settings import ServerSettings

_SMALL = 65_536
"""Writes up to this many bytes aren't counted: a connection's own buffer can hold as much."""
_SWEEP_EVERY = 1.0
_FAREWELL = 1.0
"""Seconds for readers to receive the end of a session before it is deleted."""


class Streams:
    """Connects readers to channels, and cuts off those that stop reading."""

    def __init__(
        self, log: EventLog, settings: ServerSettings, memory: MemoryBudget | None = None
    ) -> None:
        self.closed = False
        self.cut = 0
        """How many were cut off because they stopped reading."""
        self._log = log
        self._settings = settings
        self._memory = memory or MemoryBudget(settings.memory)
        self._pages = Pages(settings.cache, self._memory)
        self._written: dict[int, _Written] = {}
        self._channels: dict[str | None, Channel] = {}
        self._readers: set[StreamReader] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def reading(self) -> int:
        """The number of current readers."""
        return len(self._readers)

    def session(self, session_id: str, after: int) -> "StreamReader":
        """A reader of one session's events."""
        return StreamReader(self, session_id, Bookmark(self._log, session_id, after))

    def everything(self, after: int) -> "StreamReader":
        """A reader of all sessions' events, by the global sequence."""
        return StreamReader(self, None, Bookmark(self._log, None, after))

    def unsaid(self, after: int) -> "StreamReader":
        """The same without what agents said, for those who may not read conversations."""
        return StreamReader(self, UNSAID, Bookmark(self._log, None, after))

    def outline(self, after: int) -> "StreamReader":
        """A reader of an outline: that something happened in some session, with few details."""
        return StreamReader(self, OUTLINE, Bookmark(self._log, None, after))

    @contextmanager
    def joined(self, reader: "StreamReader") -> Generator[Channel]:
        """The reader's channel, created for the first reader and closed after the last."""
        key = reader.key
        channel = self._channels.get(key)
        if channel is None or (channel.closed and not self.closed):
            source = ChannelSource(self._log, key)
            channel = self._channels[key] = Channel(source, self._pages, self._settings)
        channel.readers += 1
        self._readers.add(reader)
        self._watch()
        try:
            yield channel
        finally:
            self._readers.discard(reader)
            channel.readers -= 1
            if not channel.readers:
                channel.left.set()
                channel.close()
                if self._channels.get(key) is channel:
                    del self._channels[key]

    @contextmanager
    def held(self, reader: "StreamReader", data: bytes) -> Generator[None]:
        """Count bytes written to a reader, only once if several readers get the same bytes.

        Raises Overloaded if there is no memory for them.
        """
        if len(data) <= _SMALL:
            yield
            return
        written = self._written.get(id(data))
        if written is None:
            written = _Written(self._memory)
            written.holding.take(len(data))
            self._written[id(data)] = written
        written.readers.add(reader)
        try:
            yield
        finally:
            written.readers.discard(reader)
            if not written.readers:
                written.holding.release()
                del self._written[id(data)]

    def _watch(self) -> None:
        if self._sweeper is None and not self.closed:
            self._sweeper = asyncio.get_running_loop().call_later(_SWEEP_EVERY, self._sweep)

    def _sweep(self) -> None:
        """Cut off stalled readers. Checking all once a second is cheaper than a timer per write."""
        self._sweeper = None
        now = asyncio.get_running_loop().time()
        for reader in tuple(self._readers):
            if reader.takes_nothing_since(now) < now - self._settings.patience:
                self.cut += 1
                reader.cut_off()
        if self._readers:
            self._watch()

    async def until_left(self, session_id: str) -> None:
        """Give the readers of a session that has ended a moment to receive its end."""
        channel = self._channels.get(session_id)
        if channel is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(channel.left.wait(), _FAREWELL)

    def forget(self, session_id: str) -> None:
        """End the streams of a deleted session, and drop all its data."""
        for key in EVERYTHING:
            if everything := self._channels.get(key):
                everything.forget()
            self._pages.forget(key)
        if channel := self._channels.pop(session_id, None):
            channel.close()
        self._pages.forget(session_id)

    def close(self) -> None:
        """End every stream, because the server stops."""
        self.closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for channel in tuple(self._channels.values()):
            channel.close()


class _Written:
    """Bytes being written to several readers at once."""

    def __init__(self, memory: MemoryBudget) -> None:
        self.readers: set[StreamReader] = set()
        self.holding = memory.holding(STREAMS, self._cut)

    def _cut(self) -> None:
        for reader in tuple(self.readers):
            reader.cut_off()


class StreamReader:
    """A reader with its own position."""

    def __init__(self, streams: Streams, key: str | None, start: Bookmark) -> None:
        self.key = key
        """The channel: a session, or one of `EVERYTHING`."""
        self.cut_off: Callable[[], None] = lambda: None
        self.buffered: Callable[[], int] = lambda: 0
        """How many bytes wait for this reader."""
        self._left = 0
        self._since = 0.0
        self._streams = streams
        self._start = start
        self._after = start.place

    @property
    def last_event(self) -> str | None:
        """The id of the event before the first one that it gets, if it was looked up."""
        return self._start.event

    async def find(self) -> None:
        """Look up the event before the first one that it gets."""
        await self._start.find()

    async def resume(self, event: str | None) -> None:
        """Continue after an event, by its id if that is known; HistoryChanged if it is gone."""
        await self._start.resume(event)

    @property
    def greeting(self) -> bytes:
        """The starting position of a new reader: even if cut off at once, it misses nothing."""
        return b"id: %d\n" % self._after if self.key in EVERYTHING else b""

    def takes_nothing_since(self, now: float) -> float:
        """When it was last seen reading, or with nothing to read."""
        left = self.buffered()
        if not left or left < self._left or not self._since:
            self._since = now
        self._left = left
        return self._since

    async def chunks(self) -> AsyncGenerator[bytes]:
        """What to write: past events, then new ones, until the end."""
        with self._streams.joined(self) as channel:
            waited = False
            if self._start.incarnation not in (0, channel.incarnation):
                return  # Another server has just taken over: its position has to be compared.
            while not channel.closed:
                news = channel.news
                data, last, ended, more = await channel.after(self._after)
                if data:
                    with self._streams.held(self, data):
                        yield data
                    self._after = last
                elif waited:
                    yield HEARTBEAT
                if ended:
                    return
                # Events that come until all readers are notified share a write.
                if waited := not more:
                    await news.wait()
