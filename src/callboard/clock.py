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
    """The machine's clock."""

    def now_ms(self) -> int:
        """Wall-clock time in milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds since an arbitrary point in the past."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in real time."""
        await asyncio.sleep(seconds)
