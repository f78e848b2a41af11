"""Create a workflow's status files, update a phase, advance to the next, archive what is over."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from callboard.errors import NotFound, StoreCorrupt, ValidationError
from callboard.statusfiles import files
from callboard.statusfiles.location import Place, find_place
from callboard.statusfiles.markdown import generate_markdown
from callboard.statusfiles.phases import (
    ACTIVE,
    COMPLETED,
    FAILED,
    PENDING,
    Phase,
    Workflow,
    check_step,
    find_phase,
    phases_of,
    ready,
    settle,
)

Where = str | os.PathLike[str] | None
GivenPhase = tuple[str, str] | Mapping[str, Any]

DETAILS: Final = ("started_at", "completed_at", "duration_ms", "error", "attempts")
"""Fields that a phase may have; they are kept up where they stand, and not added elsewhere."""


def create_workflow_state(
    task: str, phases: Sequence[GivenPhase], *, path: Where = None, details: bool = False
) -> str:
    """Begin a workflow; returns its id. What is there already is archived, or set aside if broken.

    Args:
        task: What somebody asked for, word for word.
        phases: (title, agent) each, or a mapping with those and perhaps `depends_on` and `wave`.
        path: The project's folder; found when it is not given.
        details: Keep times, attempts and errors of each phase too.
    """
    if not task.strip():
        raise ValidationError("task: say what is to be done.", field="task")
    place = find_place(path)
    made = [_phase(number, given, details) for number, given in enumerate(phases)]
    _check_needs(made)
    with files.locked(place.state):
        before = _put_away(place)
        workflow: Workflow = {
            "id": _new_id(before),
            "task": task,
            "status": PENDING,
            "current_phase": None,
            "phases": made,
        }
        _write(place, workflow)
    return workflow["id"]


def update_phase_status(  # noqa: PLR0913 - the face that agents know, the rest by keyword
    workflow_id: str,
    phase_id: str,
    status: str,
    deliverables: Iterable[str] | None = None,
    context_for_next: str | None = None,
    *,
    error: str | None = None,
    path: Where = None,
) -> None:
    """Tell how a phase stands, and what it made. It does not begin the next one: `advance` does."""
    place = find_place(path)
    with files.locked(place.state):
        workflow = _load(place, workflow_id)
        phase = find_phase(workflow, phase_id)
        check_step(phase, status)
        _note(phase, status, error)
        phase["status"] = status
        if deliverables is not None:
            known: list[Any] = phase.setdefault("deliverables", [])
            known += [one for one in deliverables if one not in known]
        if context_for_next is not None:
            phase["context_for_next"] = context_for_next
        settle(workflow)
        _write(place, workflow)


def get_workflow_state(workflow_id: str | None = None, *, path: Where = None) -> Workflow | None:
    """The workflow; the one of now, or one that was archived. None when there is none at all."""
    place = find_place(path)
    workflow = files.read(place.state)
    if workflow_id is None or (workflow is not None and workflow["id"] == workflow_id):
        return workflow
    archived = place.archive / f"{_plain(workflow_id)}.json"
    found = files.read(archived)
    if found is None:
        raise _unknown(workflow_id, workflow)
    return found


def advance(workflow_id: str, *, path: Where = None) -> list[Phase]:
    """Begin the phases whose turn it is; returns them. None while others work that they need."""
    place = find_place(path)
    with files.locked(place.state):
        workflow = _load(place, workflow_id)
        begun = ready(workflow)
        for phase in begun:
            _note(phase, ACTIVE, None)
            phase["status"] = ACTIVE
        settle(workflow)
        _write(place, workflow)
    return begun


def archive(workflow_id: str | None = None, *, path: Where = None) -> str:
    """Put the workflow away, so that the next one can begin; returns its id."""
    place = find_place(path)
    with files.locked(place.state):
        workflow = files.read(place.state)
        if workflow is None or workflow_id not in (None, workflow["id"]):
            raise _unknown(workflow_id or "", workflow)
        _put_away(place)
    return workflow["id"]


def _load(place: Place, workflow_id: str) -> Workflow:
    workflow = files.read(place.state)
    if workflow is None or workflow["id"] != workflow_id:
        raise _unknown(workflow_id, workflow)
    return workflow


def _write(place: Place, workflow: Workflow) -> None:
    files.write(place.state, files.dumped(workflow))
    files.write(place.report, generate_markdown(workflow), lasting=False)


def _put_away(place: Place) -> str | None:
    """Archive what is there, or set it aside when nobody understands it; gives its id."""
    try:
        workflow = files.read(place.state)
    except StoreCorrupt:
        files.set_aside(place.state)
        return None
    if workflow is None:
        return None
    files.write(place.archive / f"{_plain(workflow['id'])}.json", files.dumped(workflow))
    place.state.unlink()
    place.report.unlink(missing_ok=True)
    return workflow["id"]


def _phase(number: int, given: GivenPhase, details: bool) -> Phase:
    if isinstance(given, Mapping):
        title, agent, more = given.get("title"), given.get("agent"), dict(given)
    else:
        title, agent, more = given[0], given[1], {}
    if not isinstance(title, str) or not title.strip() or not isinstance(agent, str):
        raise ValidationError(
            f"phases[{number}]: a phase needs a title and an agent.", field=f"phases[{number}]"
        )
    phase: Phase = {
        "id": f"phase_{number}",
        "title": title,
        "agent": agent,
        "status": PENDING,
        "deliverables": [],
        "context_for_next": "",
    }
    if details:
        phase |= dict.fromkeys(DETAILS) | {"attempts": 0}
    return phase | {key: more[key] for key in ("depends_on", "wave") if key in more}


def _check_needs(phases: Sequence[Phase]) -> None:
    """A phase may need only what comes before it, so that no two wait for each other."""
    known: set[str] = set()
    for phase in phases:
        unknown = [one for one in phase.get("depends_on") or () if one not in known]
        if unknown:
            raise ValidationError(
                f"{phase['id']} depends on {unknown[0]!r}, which is no phase before it.",
                field="depends_on",
            )
        known.add(phase["id"])


def _note(phase: Phase, status: str, error: str | None) -> None:
    """Keep up the fields beyond the schema, where they are."""
    if error is not None or (status != FAILED and phase.get("error") is not None):
        phase["error"] = error
    if status == phase["status"]:
        return
    now = datetime.now(UTC)  # noqa: TID251 - stands alone: it may not import what it does not need
    if status == ACTIVE:
        if "attempts" in phase:
            phase["attempts"] = (phase["attempts"] or 0) + 1
        _set(phase, "started_at", now.isoformat(timespec="milliseconds"))
        _set(phase, "completed_at", None)
    elif status in (COMPLETED, FAILED):
        _set(phase, "completed_at", now.isoformat(timespec="milliseconds"))
        if isinstance(phase.get("started_at"), str):
            took = now - datetime.fromisoformat(phase["started_at"])
            _set(phase, "duration_ms", round(took.total_seconds() * 1000))


def _set(phase: Phase, field: str, value: Any) -> None:
    if field in phase:
        phase[field] = value


def _new_id(before: str | None) -> str:
    """`wf_YYYYMMDD_HHMMSS`, and never the one before."""
    seconds = int(time.time())  # noqa: TID251 - stands alone
    while True:
        id = time.strftime("wf_%Y%m%d_%H%M%S", time.localtime(seconds))
        if id != before:
            return id
        seconds += 1


def _plain(workflow_id: str) -> str:
    """An id that can be a file's name, and nothing else."""
    if not workflow_id or not workflow_id.replace("_", "").replace("-", "").isalnum():
        raise ValidationError(f"{workflow_id!r} is no id of a workflow.", field="workflow_id")
    return workflow_id


def _unknown(workflow_id: str, there: Workflow | None) -> NotFound:
    now = "There is none." if there is None else f"The one of now is {there['id']}."
    return NotFound(f"There is no workflow {workflow_id!r} here. {now}", workflow_id=workflow_id)


def progress(workflow: Workflow) -> tuple[int, int]:
    """How many phases are completed, and of how many."""
    done = sum(phase["status"] == COMPLETED for phase in phases_of(workflow))
    return done, len(phases_of(workflow))
