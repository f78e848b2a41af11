"""Listeners for the growth of streams, within one event loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from typing import Protocol

from callboard.errors import StoreError
from callboard.events.envelope import Event
from callboard.log.history import Bookmark, Readable
from callboard.log.protocol import Notify, NotifyAppend

_TAIL_SLICE = 256
"""The number of events a tail reads at once."""

ALL = None
"""Listen to every stream."""


class Listeners:
    """Callbacks by stream; each is called once per commit that concerns it.

    `started` is called for the first listener, unless the log always knows what happens.
    """

    def __init__(self, started: Callable[[], None] | None = None) -> None:
        self._by_stream: dict[str | None, dict[object, Notify]] = {}
        self._of_appends: dict[object, NotifyAppend] = {}
        self._of_work: dict[object, NotifyAppend] = {}
        self._started = started

    def __bool__(self) -> bool:
        """Whether someone has to hear of what others write."""
        return bool(self._by_stream or self._of_work)

    def add(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` whenever the stream grows, until the returned function is called."""
        token = object()
        if not self and self._started is not None:
            self._started()
        self._by_stream.setdefault(stream, {})[token] = notify

        def undo() -> None:
            waiting = self._by_stream.get(stream, {})
            waiting.pop(token, None)
            if not waiting:
                self._by_stream.pop(stream, None)

        return undo

    def add_of_appends(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with the streams that this handle has just written to."""
        return _registered(self._of_appends, notify)

    def add_of_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with the streams that others have left to be driven."""
        if not self and self._started is not None:
            self._started()
        return _registered(self._of_work, notify)

    def wake(self, heads: Mapping[str, int | None], work: Collection[str] | None = None) -> None:
        """Call the listeners of these streams in the loop's next iteration.

        Others wrote to them if `work` is given: those that someone has to drive, as far as is
        known. Not immediately: a listener that raises must not fail the append that woke it.
        """
        own = [stream for stream, head in heads.items() if head is not None and work is None]
        for listening, streams in ((self._of_appends, own), (self._of_work, work)):
            if streams:
                for notify in listening.values():
                    asyncio.get_running_loop().call_soon(notify, streams)
        if not self._by_stream:
            return
        told = [
            (notify, head)
            for stream, head in (*heads.items(), (ALL, None))
            for notify in self._by_stream.get(stream, {}).values()
        ]
        if told:
            # One call for all of them, because a commit of many drives wakes as many listeners.
            loop = asyncio.get_running_loop()
            loop.call_soon(_tell, loop, told)

    def wake_all(self) -> None:
        """Call every listener, because the log closes or it isn't known what has changed."""
        self.wake(dict.fromkeys(stream for stream in self._by_stream if stream is not None))


def _registered(listening: dict[object, NotifyAppend], notify: NotifyAppend) -> Callable[[], None]:
    token = object()
    listening[token] = notify

    def undo() -> None:
        listening.pop(token, None)

    return undo


def _tell(loop: asyncio.AbstractEventLoop, told: Iterable[tuple[Notify, int | None]]) -> None:
    for notify, head in told:
        try:
            notify(head)
        except Exception as error:
            # As with any other callback: the others are still called.
            message = f"A listener raised {type(error).__name__}"
            loop.call_exception_handler({"message": message, "exception": error})


class _Followed(Readable, Protocol):
    listeners: Listeners
    closed: bool


class Tailed:
    """The tails of a log, built on its reads and its listeners."""

    def on_append(self: _Followed, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with the streams that this handle has just written to."""
        return self.listeners.add_of_appends(notify)

    async def tail(self: _Followed, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """Past events, then new ones from any process, without gaps or repeats."""

        async def more(last: int) -> list[tuple[int, Event]]:
            events = await self.read(stream, last, limit=_TAIL_SLICE)
            return [(event.position, event) for event in events]

        async for _, event in _follow(self, stream, after, more):
            yield event

    async def tail_all(self: _Followed, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """All streams by one global sequence, which comes first in each pair."""

        async def more(last: int) -> list[tuple[int, Event]]:
            return await self.read_all(last, limit=_TAIL_SLICE)

        async for item in _follow(self, ALL, after, more):
            yield item


async def _follow(
    source: _Followed,
    stream: str | None,
    after: int,
    more: Callable[[int], Awaitable[list[tuple[int, Event]]]],
) -> AsyncIterator[tuple[int, Event]]:
    """Yield what `more(after)` finds, then wait for a commit and look again.

    Nothing is lost, because the listener is registered before looking; nothing is repeated, because
    each look starts after the last position yielded. HistoryChanged if what was yielded is gone.
    """
    last = Bookmark(source, stream, after)
    changed = asyncio.Event()
    undo = source.listeners.add(stream, lambda head: changed.set())
    try:
        if not source.closed:
            await last.find()
        while not source.closed:
            changed.clear()
            found = await more(last.place)
            if await last.is_outdated():
                continue
            for place, event in found:
                last.move(place, event)
                yield place, event
            if not found:
                await changed.wait()
    except StoreError:
        if not source.closed:
            raise
    finally:
        undo()
