"""Who wants to know that a stream has grown, within one event loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Protocol, TypeVar

from callboard.errors import StoreError
from callboard.log.protocol import Notify

Item = TypeVar("Item")

ALL = None
"""Listen to every stream."""


def _nothing() -> None:
    """For a log that needs no preparation to know what happens in it."""


class Listeners:
    """Callbacks by stream; each is called once per commit that concerns it.

    `started` is called when there is a first listener.
    """

    def __init__(self, started: Callable[[], None] = _nothing) -> None:
        self._by_stream: dict[str | None, dict[object, Notify]] = {}
        self._started = started

    def __bool__(self) -> bool:
        return bool(self._by_stream)

    def add(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` whenever the stream grows, until the returned function is called."""
        token = object()
        if not self._by_stream:
            self._started()
        self._by_stream.setdefault(stream, {})[token] = notify

        def undo() -> None:
            waiting = self._by_stream.get(stream, {})
            waiting.pop(token, None)
            if not waiting:
                self._by_stream.pop(stream, None)

        return undo

    def streams(self) -> list[str]:
        """The streams that somebody listens to by name."""
        return [stream for stream in self._by_stream if stream is not None]

    def wake(self, heads: Mapping[str, int | None]) -> None:
        """Call everyone who listens to one of these streams, in the loop's next turn.

        Not at once: a listener that raises must not fail the append that woke it.
        """
        if not self._by_stream:
            return
        told = [
            (notify, head)
            for stream, head in (*heads.items(), (ALL, None))
            for notify in self._by_stream.get(stream, {}).values()
        ]
        if told:
            # One call for all of them: a commit of many drives wakes as many listeners.
            loop = asyncio.get_running_loop()
            loop.call_soon(_tell, loop, told)

    def wake_all(self) -> None:
        """Call every listener: the log closes, or nobody knows what has changed."""
        self.wake(dict.fromkeys(self.streams()))


def _tell(loop: asyncio.AbstractEventLoop, told: Iterable[tuple[Notify, int | None]]) -> None:
    for notify, head in told:
        try:
            notify(head)
        except Exception as error:
            # As for any other callback: the others are called all the same.
            message = f"A listener raised {type(error).__name__}"
            loop.call_exception_handler({"message": message, "exception": error})


class Source(Protocol):
    """What `follow` needs of a log."""

    listeners: Listeners
    closed: bool


async def follow(
    source: Source,
    stream: str | None,
    after: int,
    more: Callable[[int], Awaitable[list[tuple[int, Item]]]],
) -> AsyncIterator[tuple[int, Item]]:
    """Give what `more(after)` finds, then wait for a commit and look again.

    Nothing is lost, because the wish to be woken is recorded before looking; nothing is
    repeated, because each look starts after the last place given.
    """
    changed = asyncio.Event()
    undo = source.listeners.add(stream, lambda head: changed.set())
    try:
        while not source.closed:
            changed.clear()
            try:
                found = await more(after)
            except StoreError:
                if source.closed:
                    return
                raise
            for place, item in found:
                after = place
                yield place, item
            if not found:
                await changed.wait()
    finally:
        undo()
