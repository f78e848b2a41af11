"""Phases and their statuses: which may follow which, and the workflow's status that results."""

from callboard.errors import ConflictError, NotFound, ValidationError

TYPE_CHECKING = False  # Importing `typing` takes longer than all of this.
if TYPE_CHECKING:
    from typing import Any

Told = dict[str, "Any"]
"""The content of the file, or a part of it."""
Workflow = Told
Phase = Told

PENDING = "pending"
ACTIVE = "active"
COMPLETED = "completed"
FAILED = "failed"

NEXT = {
    PENDING: (ACTIVE, COMPLETED, FAILED),
    ACTIVE: (COMPLETED, FAILED),
    COMPLETED: (),
    FAILED: (ACTIVE,),
}
"""What a status may change to; repeating it is always allowed."""

DETAILS = ("started_at", "completed_at", "duration_ms", "error", "attempts")
"""Optional fields of a phase. They are kept up to date where they exist, and not added elsewhere.
"""


def find_phase(workflow: Workflow, phase_id: str) -> Phase:
    """One phase by its id."""
    for phase in workflow["phases"]:
        if phase["id"] == phase_id:
            return phase
    known = ", ".join(phase["id"] for phase in workflow["phases"])
    raise NotFound(f"The workflow has no phase {phase_id!r}. It has {known}.", phase_id=phase_id)


def move(phase: Phase, status: str, error: str | None = None) -> None:
    """Change a phase's status, if that is allowed, and update its optional fields."""
    before = phase["status"]
    _check_step(phase["id"], before, status)
    if error is not None or (status != FAILED and phase.get("error") is not None):
        phase["error"] = error
    phase["status"] = status
    if status != before and not phase.keys().isdisjoint(DETAILS):
        told = _details(phase, status)
        phase.update((field, told[field]) for field in told if field in phase)


def _details(phase: Phase, status: str) -> Phase:
    from datetime import UTC, datetime  # Only here, because it is slow to import.

    now = datetime.now(UTC)
    moment = now.isoformat(timespec="milliseconds")
    if status == ACTIVE:
        attempts = (phase.get("attempts") or 0) + 1
        return {"started_at": moment, "completed_at": None, "attempts": attempts}
    try:
        took = now - datetime.fromisoformat(phase["started_at"])
    except (KeyError, TypeError, ValueError):  # Never started, or the file has no valid time.
        return {"completed_at": moment}
    return {"completed_at": moment, "duration_ms": round(took.total_seconds() * 1000)}


def _check_step(phase_id: str, now: str, status: str) -> None:
    """Refuse an unknown status, or one that cannot follow."""
    if status not in NEXT:
        raise ValidationError(f"{status!r} is not a status. Use {', '.join(NEXT)}.", field="status")
    allowed = NEXT.get(now, ())
    if status not in (now, *allowed):
        can = f"It can become {' or '.join(allowed)}" if allowed else "It is final"
        raise ConflictError(
            f"Phase {phase_id} is {now} and cannot become {status}. {can}.", phase_id=phase_id
        )


def settle(workflow: Workflow, ended: str | None = None, *, advanced: bool = False) -> None:
    """Derive the workflow's status and current phase from its phases. `ended`: the phase that just
    ended. It stays current until the workflow advances, even when all phases are completed."""
    statuses = {phase["status"] for phase in workflow["phases"]}
    over = [phase["id"] for phase in workflow["phases"] if phase["status"] in (COMPLETED, FAILED)]
    last = [one for one in (ended, workflow.get("current_phase"), *over[::-1]) if one in over]
    active = [phase["id"] for phase in workflow["phases"] if phase["status"] == ACTIVE]
    is_done = statuses == {COMPLETED}
    workflow["current_phase"] = None if is_done and advanced else [*active, *last, None][0]
    workflow |= {"current_phases": active, "phases": workflow.pop("phases")}
    if is_done:
        workflow["status"] = COMPLETED
    elif FAILED in statuses and not active:
        workflow["status"] = FAILED
    else:
        workflow["status"] = PENDING if statuses <= {PENDING} else ACTIVE
