"""Time: the only place that reads a clock, so that tests can hold it still."""

import asyncio
import time
from datetime import UTC, datetime
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


def from_ms(millis: int) -> datetime:
    """Turn recorded milliseconds into an aware datetime."""
    return datetime.fromtimestamp(millis / 1000, UTC)


def to_ms(moment: datetime) -> int:
    """Turn an aware datetime into milliseconds."""
    return round(moment.timestamp() * 1000)


def iso(moment: datetime) -> str:
    """Write a moment as the wire does: UTC, milliseconds, Z."""
    text = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03d}Z"
