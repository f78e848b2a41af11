"""Phases and their statuses: what may follow what, and what that makes of the workflow."""

from typing import Any, Final

from callboard.errors import ConflictError, NotFound, ValidationError

PENDING: Final = "pending"
ACTIVE: Final = "active"
COMPLETED: Final = "completed"
FAILED: Final = "failed"

NEXT: Final = {
    PENDING: (ACTIVE, COMPLETED, FAILED),
    ACTIVE: (COMPLETED, FAILED),
    COMPLETED: (),
    FAILED: (ACTIVE,),
}
"""What a status may become; the same again is always allowed."""

Workflow = dict[str, Any]
Phase = dict[str, Any]


def phases_of(workflow: Workflow) -> list[Phase]:
    """The phases, in their order."""
    return workflow["phases"]


def find_phase(workflow: Workflow, phase_id: str) -> Phase:
    """One phase by its id."""
    for phase in phases_of(workflow):
        if phase["id"] == phase_id:
            return phase
    known = ", ".join(phase["id"] for phase in phases_of(workflow))
    raise NotFound(
        f"Workflow {workflow['id']} has no phase {phase_id!r}. It has {known}.", phase_id=phase_id
    )


def check_step(phase: Phase, status: str) -> None:
    """Refuse a status that there is not, or that cannot follow."""
    if status not in NEXT:
        raise ValidationError(
            f"{status!r} is no status of a phase. Use {', '.join(NEXT)}.", field="status"
        )
    now = phase["status"]
    if status == now:
        return
    allowed = NEXT.get(now, ())
    if status not in allowed:
        can = f"It can become {' or '.join(allowed)}" if allowed else "It stays so"
        raise ConflictError(
            f"Phase {phase['id']} is {now} and cannot become {status}. {can}.",
            phase_id=phase["id"],
        )


def settle(workflow: Workflow) -> None:
    """Let the workflow's own status and current phase follow from its phases."""
    statuses = [phase["status"] for phase in phases_of(workflow)]
    active = [phase["id"] for phase in phases_of(workflow) if phase["status"] == ACTIVE]
    workflow["current_phase"] = active[0] if active else None
    if statuses and all(status == COMPLETED for status in statuses):
        workflow["status"] = COMPLETED
    elif FAILED in statuses and not active:
        workflow["status"] = FAILED
    elif any(status != PENDING for status in statuses):
        workflow["status"] = ACTIVE
    else:
        workflow["status"] = PENDING


def ready(workflow: Workflow) -> list[Phase]:
    """The phases whose turn it is: those that wait for nothing that is not completed.

    Without `depends_on` a phase waits for all before it, but not for those of its own wave.
    """
    done = {phase["id"] for phase in phases_of(workflow) if phase["status"] == COMPLETED}
    return [
        phase
        for number, phase in enumerate(phases_of(workflow))
        if phase["status"] == PENDING and _needs(workflow, number) <= done
    ]


def _needs(workflow: Workflow, number: int) -> set[str]:
    phase = phases_of(workflow)[number]
    named = phase.get("depends_on")
    if named is not None:
        return set(named)
    wave = phase.get("wave")
    before = phases_of(workflow)[:number]
    return {one["id"] for one in before if wave is None or one.get("wave") != wave}
