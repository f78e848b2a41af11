"""Whose turn it is: the phases that are ready to start, and the overall progress."""

from callboard.statusfiles import files
from callboard.statusfiles.location import find_place
from callboard.statusfiles.phases import (
    ACTIVE,
    COMPLETED,
    PENDING,
    Phase,
    Workflow,
    move,
    settle,
)
from callboard.statusfiles.workflows import Where, load, write


def phases_of(workflow: Workflow) -> list[Phase]:
    """The phases, in order."""
    return workflow["phases"]


def advance(workflow_id: str, *, path: Where = None) -> list[Phase]:
    """Start the phases that are ready; returns them. Empty while they wait for others."""
    place = find_place(path)
    with files.locked(place.state):
        workflow = load(place, workflow_id)
        begun = ready(workflow)
        for phase in begun:
            move(phase, ACTIVE)
        settle(workflow, advanced=True)
        write(place, workflow)
    return begun


def ready(workflow: Workflow) -> list[Phase]:
    """The phases that are ready: everything they wait for is completed.

    Without `depends_on`, a phase waits for all phases before it except those of its own wave.
    """
    done = [phase["id"] for phase in phases_of(workflow) if phase["status"] == COMPLETED]
    return [
        phase
        for number, phase in enumerate(phases_of(workflow))
        if phase["status"] == PENDING and all(one in done for one in _needs(workflow, number))
    ]


def _needs(workflow: Workflow, number: int) -> list[str]:
    phase = phases_of(workflow)[number]
    named = phase.get("depends_on")
    if named is not None:
        return named
    wave = phase.get("wave")
    before = phases_of(workflow)[:number]
    return [one["id"] for one in before if wave is None or one.get("wave") != wave]
