"""Time: the only place that reads a clock, so that tests can hold it still."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the rest of Callboard knows of time."""

    def now_ms(self) -> int:
        """Wall time in milliseconds since 1970, for what is recorded."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for what is measured."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a test's clock decides how long that takes."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """Wall time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds since some moment in the past."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait in real time."""
        await asyncio.sleep(seconds)
