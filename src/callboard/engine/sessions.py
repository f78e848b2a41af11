"""A session as lists and details show it: one row of the view, and what is open in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from callboard.events.codec import load_json
from callboard.events.moments import from_iso, from_ms, iso
from callboard.events.status import Status
from callboard.interactions.records import Interaction


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """How a session stands. `running` tells whether a living process drives it now.

    `pending` holds its oldest open questions: all of them unless there are many. `pending_count`
    says how many there are; `inbox(session_id)` finds them all.
    """

    session_id: str
    workflow: str
    version: str | None
    status: Status
    running: bool
    phase: str | None
    position: int
    created_at: datetime
    updated_at: datetime
    parent: str | None
    fork_position: int | None
    pending: Sequence[Interaction]
    error: Mapping[str, Any] | None
    held: str | None
    source: Mapping[str, str] | None
    progress: str | None = None
    """How many of its phases are completed, `3/5`, where its status files tell that."""
    pending_count: int = 0

    def to_wire(self) -> dict[str, Any]:
        """The session as JSON readers see it."""
        return {
            "sessionId": self.session_id,
            "workflow": self.workflow,
            "version": self.version,
            "status": self.status,
            "running": self.running,
            "phase": self.phase,
            "position": self.position,
            "createdAt": iso(self.created_at),
            "updatedAt": iso(self.updated_at),
            "parent": self.parent,
            "forkPosition": self.fork_position,
            "pending": [one.to_wire() for one in self.pending],
            "pendingCount": self.pending_count,
            "error": self.error,
            "held": self.held,
            "progress": self.progress,
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """The session that `to_wire` wrote; it does not tell `source`."""
        return cls(
            session_id=wire["sessionId"],
            workflow=wire["workflow"],
            version=wire["version"],
            status=wire["status"],
            running=wire["running"],
            phase=wire["phase"],
            position=wire["position"],
            created_at=from_iso(wire["createdAt"]),
            updated_at=from_iso(wire["updatedAt"]),
            parent=wire["parent"],
            fork_position=wire["forkPosition"],
            pending=tuple(Interaction.from_wire(one) for one in wire["pending"]),
            error=wire["error"],
            held=wire["held"],
            source=None,
            progress=wire.get("progress"),
            pending_count=wire.get("pendingCount", len(wire["pending"])),
        )


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some of the sessions, newest first, and where the next ones begin if there are more."""

    sessions: list[SessionInfo]
    next_cursor: str | None


def session_info(
    row: Mapping[str, Any], pending: Sequence[Interaction] = (), *, running: bool = False
) -> SessionInfo:
    """The session that a row holds."""
    return SessionInfo(
        session_id=row["id"],
        workflow=row["workflow"],
        version=row["version"],
        status=row["status"],
        running=running,
        phase=row["phase"],
        position=row["position"],
        created_at=from_ms(row["created_at"]),
        updated_at=from_ms(row["updated_at"]),
        parent=row["parent"],
        fork_position=row["fork_position"],
        pending=tuple(pending),
        error=_json(row["error"]),
        held=row["held"],
        source=_json(row["source"]),
        pending_count=row["pending"],
    )


def _json(text: str | None) -> Any:
    return None if text is None else load_json(text)
