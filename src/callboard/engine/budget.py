"""How long one attempt may work. The time it waits for a person does not count."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from callboard.clock import Clock


class Budget:
    """Counts an attempt's working time down and calls `expire` when it is used up."""

    def __init__(self, seconds: float, clock: Clock, expire: Callable[[], object]) -> None:
        self.expired = False
        self.limit = seconds
        self._left = seconds
        self._clock = clock
        self._expire = expire
        self._waiting = 0
        self._working = asyncio.Event()
        self._working.set()
        self._stopped = asyncio.Event()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Stop counting for as long as a person is being waited for."""
        self._waiting += 1
        self._working.clear()
        self._stopped.set()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._stopped.clear()
                self._working.set()

    async def watch(self) -> None:
        """Run beside the attempt, until it is cancelled or the budget is used up."""
        while self._left > 0:
            await self._working.wait()
            begun = self._clock.monotonic()
            await self._sleep_or_stop()
            self._left -= self._clock.monotonic() - begun
        self.expired = True
        self._expire()

    async def _sleep_or_stop(self) -> None:
        sleeping = asyncio.ensure_future(self._clock.sleep(self._left))
        stopping = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({sleeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            stopping.cancel()
