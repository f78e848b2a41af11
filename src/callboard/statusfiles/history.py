"""Details of a workflow beyond its phases: a log of changes, and the progress."""

from datetime import UTC, datetime
from typing import Final

from callboard.statusfiles.phases import COMPLETED, PENDING, Phase, Told, Workflow

HISTORY: Final = "history"
PERCENT: Final = "progress_percent"
LONGEST: Final = 1000
"""The number of changes to keep."""


def keep_up(workflow: Workflow) -> None:
    """Log how the phases differ from the log so far, and recalculate the progress.

    This way the log also has changes that were made to the file by hand.
    """
    history: list[Told] = workflow[HISTORY] or []
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    for phase in workflow["phases"]:
        changed = _changes(phase, [one for one in history if one.get("phase") == phase["id"]])
        if changed:
            history.append({"at": now, "phase": phase["id"]} | changed)
    workflow[HISTORY] = history[-LONGEST:]
    workflow[PERCENT] = percent(workflow)


def _changes(phase: Phase, known: list[Told]) -> Told:
    """How a phase differs from its logged changes."""
    changed: Told = {}
    before = next((one["to"] for one in reversed(known) if "to" in one), PENDING)
    if phase["status"] != before:
        changed |= {"from": before, "to": phase["status"]}
        changed |= {"error": phase["error"]} if phase.get("error") else {}
    made = [name for one in known for name in one.get("deliverables", ())]
    new = [name for name in phase.get("deliverables") or () if name not in made]
    contexts = [one["context_for_next"] for one in known if "context_for_next" in one]
    context = phase.get("context_for_next") or ""
    return (
        changed
        | ({"deliverables": new} if new else {})
        | ({"context_for_next": context} if context != ["", *contexts][-1] else {})
    )


def progress(workflow: Workflow) -> tuple[int, int]:
    """The number of completed phases, and of all phases."""
    done = sum(phase["status"] == COMPLETED for phase in workflow["phases"])
    return done, len(workflow["phases"])


def percent(workflow: Workflow) -> int:
    """The percentage of completed phases."""
    done, total = progress(workflow)
    return round(100 * done / total) if total else 0
