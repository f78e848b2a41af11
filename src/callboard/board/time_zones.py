"""Time zones by their names, which know when summer time starts; an offset from UTC doesn't."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from callboard.errors import ValidationError

LONGEST_ZONE: Final = 64
ZONE: Final = r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*"


def checked_zone(name: str | None) -> str | None:
    """A name of the IANA database as it is given; ValidationError if none looks like this."""
    if name is None or (len(name) <= LONGEST_ZONE and re.fullmatch(ZONE, name)):
        return name
    raise ValidationError(
        "time_zone: expected a name such as Europe/Berlin.",
        field="time_zone",
    )


def offset_at(now_ms: int, name: str | None, otherwise: int) -> int:
    """A time zone's offset at that time, in minutes east of UTC.

    otherwise: the offset if there is no name, or this machine doesn't know it.
    """
    if name is None:
        return otherwise
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return otherwise
    offset = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(zone).utcoffset()
    return otherwise if offset is None else offset // timedelta(minutes=1)
