"""Time: the only module that reads a clock, so that tests can control it."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time, as the rest of Callboard uses it."""

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since 1970, for timestamps."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back, for measuring."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a test's clock decides how long that takes."""
        ...


class SystemClock:
    """The machine's clock, corrected if a log on another machine has a clock of its own."""

    def __init__(self) -> None:
        self.offset_ms = 0
        """How much later it is there."""

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + self.offset_ms

    def correct(self, asked_ms: int, told_ms: int) -> None:
        """Agree with another clock, which was asked at `asked_ms` and whose reply came just now.

        It was read between the two, so within these bounds no correction is better than another.
        """
        if told_ms < asked_ms:
            self.offset_ms -= asked_ms - told_ms
        else:
            self.offset_ms += max(told_ms - self.now_ms(), 0)

    def monotonic(self) -> float:
        """Seconds since an arbitrary point in the past."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in real time."""
        await asyncio.sleep(seconds)
