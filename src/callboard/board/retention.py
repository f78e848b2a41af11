"""Which plates were closed for so long that they may go."""

from typing import Final

from callboard.engine.retention import Outdated
from callboard.events.moments import from_ms
from callboard.events.rows import Query
from callboard.log.protocol import EventLog

CLOSED: Final = "closed"


async def outdated_plates(log: EventLog, before_ms: int) -> list[Outdated]:
    """The plates that are closed, and last changed at that moment or before; oldest first."""
    query = Query(
        "plates", {"status": CLOSED}, at_most=("updated_at", before_ms), order="updated_at"
    )
    return [
        Outdated(
            session_id=row["id"],
            workflow=row["agent"],
            status=CLOSED,
            updated_at=from_ms(row["updated_at"]),
            position=await log.head(row["id"]),
        )
        for row in await log.rows(query)
    ]
