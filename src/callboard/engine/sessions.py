"""A session as lists and details show it: its row, and its open questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypedDict

from callboard.errors import ConflictError
from callboard.events.codec import load_cell
from callboard.events.failures import ErrorDescription
from callboard.events.moments import from_ms
from callboard.events.shapes import Shape, Unsent
from callboard.events.status import Status
from callboard.interactions.records import Interaction


@dataclass(frozen=True, slots=True)
class SessionInfo(Shape):
    """A session's current status. `running` says whether a living process drives it now.

    `pending` has its oldest open questions, usually all of them. `pending_count` is their total;
    `inbox(session_id)` returns all.
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
    pending: Annotated[
        Sequence[Interaction],
        "Its oldest open questions: at most 3 in a list, 100 for a single session. "
        "`GET /interactions?sessionId=…&status=pending` lists all of them.",
    ]
    error: ErrorDescription | None
    held: str | None
    progress: Annotated[
        str | None, "Phases completed, such as `3/5`, if its status files show that."
    ] = None
    pending_count: Annotated[int, "How many questions are open."] = 0
    title: Annotated[
        str | None,
        "What people call it, from the workflow or the caller; null if it has no title.",
    ] = None
    source: Unsent[Mapping[str, str] | None] = None


@dataclass(frozen=True, slots=True)
class SessionPage(Shape):
    """One page of sessions, newest first, and where the next one starts, if there are more."""

    sessions: list[SessionInfo]
    next_cursor: str | None


def session_info(
    row: Mapping[str, Any], pending: Sequence[Interaction] = (), *, running: bool = False
) -> SessionInfo:
    """The session in a row."""
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
        error=load_cell(row["error"]),
        held=row["held"],
        source=load_cell(row["source"]),
        pending_count=row["pending"],
        title=row["title"],
    )


class RetryPoint(TypedDict):
    """Where to fork a failed session; at its end if both are missing."""

    phase: str | None
    position: int | None


def retry_point(info: SessionInfo, at: int | str | None = None) -> RetryPoint:
    """A position or a phase, by default the one that failed; ConflictError unless one did."""
    if info.status != "failed":
        raise ConflictError(
            f"Session {info.session_id} is {info.status}; only a failed one can be retried.",
            session_id=info.session_id,
        )
    if isinstance(at, int):
        return {"phase": None, "position": at}
    return {"phase": at or (info.error or {}).get("phase") or info.phase, "position": None}
