"""Moments as events carry them: milliseconds in tables, datetimes in Python, ISO on the wire.

Pure conversions; what reads the clock is `callboard.clock`.
"""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=256)  # The events of one commit share their moment.
def from_ms(millis: int) -> datetime:
    """Turn recorded milliseconds into an aware datetime."""
    return datetime.fromtimestamp(millis / 1000, UTC)


def to_ms(moment: datetime) -> int:
    """Turn an aware datetime into milliseconds."""
    return round(moment.timestamp() * 1000)


def iso(moment: datetime) -> str:
    """Write a moment as the wire does: UTC, milliseconds, Z."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds")[:-6] + "Z"  # Instead of +00:00.


def from_iso(text: str) -> datetime:
    """Read a moment; one without a zone is in UTC. ValueError when it is not one."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
