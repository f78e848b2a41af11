"""Times, as events have them: milliseconds in tables, datetimes in Python, ISO 8601 on the wire.

Pure conversions; `callboard.clock` reads the clock.
"""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=256)  # The events of one commit share a timestamp.
def from_ms(millis: int) -> datetime:
    """Turn recorded milliseconds into an aware datetime."""
    return datetime.fromtimestamp(millis / 1000, UTC)


def to_ms(moment: datetime) -> int:
    """Turn an aware datetime into milliseconds."""
    return round(moment.timestamp() * 1000)


def iso(moment: datetime) -> str:
    """Format a time as on the wire: UTC, milliseconds, Z."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds")[:-6] + "Z"  # Instead of +00:00.


def from_iso(text: str) -> datetime:
    """Parse a time; without a time zone, it is UTC. ValueError if it isn't valid."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
