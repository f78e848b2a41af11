"""A clock that the test controls, so that retries, deadlines and waits take no time.

>>> import asyncio
>>> async def nap():
...     clock = FakeClock(autojump=True)
...     await clock.sleep(3600)
...     return clock.monotonic()
>>> asyncio.run(nap())
3600.0
"""

import asyncio
import heapq
import itertools
from collections.abc import Generator
from contextlib import contextmanager

_NANOS = 1_000_000_000
# A busy loop keeps the event loop from ever going idle; the test has to end anyway.
_MOST_TURNS = 100_000
_LOOK_AGAIN = 0.0005


class FakeClock:
    """A `Clock` that stands still until the test moves it.

    With `autojump`, it moves by itself: when the event loop has nothing left to run, it jumps to
    the time at which the next sleeper wakes. It doesn't see threads: it jumps past work in a thread
    unless that work runs `with clock.held()` or `quiet` gives it real seconds.

    Use one clock per event loop. Needs asyncio's own loop, not uvloop.
    """

    def __init__(
        self, start_ms: int = 1_769_860_800_000, *, autojump: bool = False, quiet: float = 0.0
    ) -> None:
        self._start_ms = start_ms
        self._nanos = 0
        self._autojump = autojump
        self._quiet = quiet
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._looks = 0
        self._holds = 0
        self._watching: asyncio.AbstractEventLoop | None = None

    def now_ms(self) -> int:
        """Wall time in milliseconds. Noon on 31 January 2026 by default."""
        self._looks += 1
        return self._start_ms + self._nanos // 1_000_000

    def monotonic(self) -> float:
        """Seconds since the clock was created."""
        self._looks += 1
        return self._nanos / _NANOS

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has moved this far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        waking: asyncio.Future[None] = loop.create_future()
        # At least a nanosecond, so that a sleep rounded down to nothing still makes progress.
        at = self._nanos + max(1, round(seconds * _NANOS))
        heapq.heappush(self._sleepers, (at, next(self._order), waking))
        if self._autojump and self._watching is not loop:
            self._watching = loop
            loop.call_soon(self._watch, loop)
        await waking

    async def advance(self, seconds: float) -> None:
        """Move the clock. Sleepers wake in order, and each runs as far as it can."""
        if self._autojump:
            await self.sleep(seconds)
            return
        until = self._nanos + round(seconds * _NANOS)
        await self._fall_idle()
        while (at := self._next()) is not None and at <= until:
            self._wake(at)
            await self._fall_idle()
        self._nanos = until

    async def _fall_idle(self) -> None:
        """Let everything that can run do so, until the event loop is idle and nothing holds the
        clock.
        """
        loop = asyncio.get_running_loop()
        for _ in range(_MOST_TURNS):
            await asyncio.sleep(_LOOK_AGAIN if self._holds else 0)
            if not self._holds and not _ready(loop):
                return

    @contextmanager
    def held(self) -> Generator[None]:
        """Keep the clock from moving during work that it cannot see."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1

    def skip(self, seconds: float) -> None:
        """Move the clock at once. Sleepers that are due wake in the event loop's next iteration."""
        until = self._nanos + round(seconds * _NANOS)
        while (at := self._next()) is not None and at <= until:
            self._wake(at)
        self._nanos = until

    @property
    def sleepers(self) -> int:
        """The number of tasks waiting for this clock."""
        return sum(not waking.done() for _, _, waking in self._sleepers)

    def _next(self) -> int | None:
        """When the next sleeper wakes, cancelled ones aside."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def _wake(self, at: int) -> None:
        self._nanos = max(self._nanos, at)
        while self._next() == at:
            heapq.heappop(self._sleepers)[2].set_result(None)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Jump when nothing else is left to run. A callback, so that no task is left behind."""
        if self._next() is None:
            self._watching = None
        elif _ready(loop):
            loop.call_soon(self._watch, loop)
        elif self._holds:
            loop.call_later(_LOOK_AGAIN, self._watch, loop)
        elif self._quiet:
            loop.call_later(self._quiet, self._jump_unless_seen, loop, self._looks)
        else:
            self._jump(loop)

    def _jump_unless_seen(self, loop: asyncio.AbstractEventLoop, looks: int) -> None:
        if looks == self._looks and not self._holds and not _ready(loop):
            self._jump(loop)
        else:
            loop.call_soon(self._watch, loop)

    def _jump(self, loop: asyncio.AbstractEventLoop) -> None:
        at = self._next()
        if at is not None:
            self._wake(at)
        loop.call_soon(self._watch, loop)


def _ready(loop: asyncio.AbstractEventLoop) -> bool:
    # asyncio has no public way to ask whether a loop has anything left to run.
    queue: object = getattr(loop, "_ready", None)
    if queue is None:
        raise NotImplementedError("FakeClock needs asyncio's own event loop.")
    return bool(queue)
