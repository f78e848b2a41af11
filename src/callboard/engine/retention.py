"""Which sessions have ended and rested for so long that they may go."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from callboard.errors import ValidationError
from callboard.events.moments import from_ms, iso
from callboard.events.rows import Query
from callboard.events.status import ENDED
from callboard.log.protocol import EventLog


@dataclass(frozen=True, slots=True)
class Outdated:
    """A session, or a plate of a coding agent, that may go, and how many events it has."""

    session_id: str
    workflow: str
    status: str
    updated_at: datetime
    position: int

    def to_wire(self) -> dict[str, Any]:
        """The session as JSON readers see it."""
        return {
            "sessionId": self.session_id,
            "workflow": self.workflow,
            "status": self.status,
            "updatedAt": iso(self.updated_at),
            "position": self.position,
        }


async def outdated(
    log: EventLog, before_ms: int, statuses: Collection[str] = ENDED
) -> list[Outdated]:
    """The sessions that have ended so, and last changed at that moment or before; oldest first."""
    if alive := [status for status in statuses if status not in ENDED]:
        raise ValidationError(
            f"A session that is {alive[0]} has not ended. Choose among {', '.join(ENDED)}.",
            field="status",
        )
    query = Query(
        "sessions",
        at_most=("updated_at", before_ms),
        one_of=("status", tuple(statuses)),
        order="updated_at",
    )
    return [
        Outdated(
            session_id=row["id"],
            workflow=row["workflow"],
            status=row["status"],
            updated_at=from_ms(row["updated_at"]),
            position=row["position"],
        )
        for row in await log.rows(query)
    ]
