"""Watches the event loop: how long it computes before it comes round again.

Computing time of the loop's own thread, not the time of day: a busy machine is not our fault.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

_EVERY: Final = 0.05


class LoopWatch:
    """Looks at regular intervals; gives each the seconds that the loop has computed since."""

    def __init__(self, observe: Callable[[float], None]) -> None:
        self._observe = observe
        self._timer: asyncio.TimerHandle | None = None
        self._before = 0.0

    def start(self) -> None:
        """Begin, in the thread of the loop."""
        self._before = time.thread_time()
        self._arm()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_EVERY, self._look)

    def _look(self) -> None:
        before, self._before = self._before, time.thread_time()
        self._observe(self._before - before)
        self._arm()
