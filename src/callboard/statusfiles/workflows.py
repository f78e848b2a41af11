"""Create a workflow's status files, update phases, read them, and archive them."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from callboard.disk.project_files import found, is_there, remove
from callboard.errors import NotFound, StoreCorrupt, StoreError, ValidationError
from callboard.statusfiles import files
from callboard.statusfiles.location import StatusFolder, find_place
from callboard.statusfiles.markdown import generate_markdown
from callboard.statusfiles.phases import DETAILS, PENDING, Phase, Workflow, find_phase, move, settle

Where = str | os.PathLike[str] | None
GivenPhase = tuple[str, str] | Mapping[str, object]
_ID = "wf_%Y%m%d_%H%M%S"


def create_workflow_state(
    task: str, phases: Sequence[GivenPhase], *, path: Where = None, details: bool = False
) -> str:
    """Start a workflow; returns its id. The one before is archived, or set aside if broken.

    Args:
        task: The request, word for word.
        phases: A (title, agent) pair each, or a mapping that may add `depends_on` and `wave`.
        path: The project's folder. Found automatically by default.
        details: Also record times, attempts, errors, the percentage done, and a log of changes.
    """
    if not task.strip():
        raise ValidationError("task: describe what to do.", field="task")
    place = find_place(path)
    made = [new_phase(number, given, details) for number, given in enumerate(phases)]
    with files.locked(place.state):
        put_away(place)
        id = new_id(place)
        workflow = {"id": id, "task": task, "status": PENDING, "current_phase": None}
        rest = {"current_phases": [], "phases": made} | ({"history": []} if details else {})
        write(place, workflow | rest)
    return id


def update_phase_status(  # noqa: PLR0913 - the signature that agents know, the rest by keyword
    workflow_id: str,
    phase_id: str,
    status: str,
    deliverables: Iterable[str] | None = None,
    context_for_next: str | None = None,
    *,
    error: str | None = None,
    path: Where = None,
) -> None:
    """Set a phase's status and what it made. This doesn't start the next phase: `advance` does."""
    if isinstance(deliverables, str):
        raise ValidationError("deliverables: give a list of texts.", field="deliverables")
    place = find_place(path)
    with files.locked(place.state):
        workflow = load(place, workflow_id)
        phase = find_phase(workflow, phase_id)
        ended = phase_id if status != phase["status"] else None
        move(phase, status, error)
        if deliverables is not None:
            known: list[str] = phase.get("deliverables") or []
            phase["deliverables"] = known + [one for one in deliverables if one not in known]
        if context_for_next is not None:
            phase["context_for_next"] = context_for_next
        settle(workflow, ended)
        write(place, workflow)


def get_workflow_state(workflow_id: str | None = None, *, path: Where = None) -> Workflow | None:
    """The current workflow, or an archived one by its id. None if there is no workflow at all."""
    place = find_place(path)
    workflow = files.read(place.state)
    if workflow_id is None or (workflow is not None and workflow["id"] == workflow_id):
        return workflow
    return files.read(_archived(place, workflow_id)) or load(place, workflow_id)


def load(place: StatusFolder, workflow_id: str | None) -> Workflow:
    """The current workflow, if it has this id."""
    workflow = files.read(place.state)
    if workflow is None or workflow_id not in (None, workflow["id"]):
        now = f"The current one is {workflow['id']}." if workflow else "No workflow is active."
        raise NotFound(f"There is no workflow {workflow_id!r} here. {now}", workflow_id=workflow_id)
    return workflow


def write(place: StatusFolder, workflow: Workflow) -> None:
    """Write the state, and the report if it changed. The caller holds the lock."""
    if "history" in workflow:  # Imported only when needed.
        import callboard.statusfiles.history

        callboard.statusfiles.history.keep_up(workflow)
    files.write_often(place.state, files.dumped(workflow))
    report = generate_markdown(workflow)
    try:
        said = files.data_of(place.report) if found(place.report) else None
        if said != report.encode("utf-8", "replace"):
            files.write(place.report, report, lasting=False)
    except StoreError as error:  # The state is written; the next writer retries the report.
        files.warn(f"{place.report} is out of date: {getattr(error.__cause__, 'strerror', error)}")


def put_away(place: StatusFolder) -> None:
    """Archive the current workflow without overwriting another, or set it aside if it is broken."""
    try:
        workflow = files.read(place.state)
        archived = _archived(place, workflow["id"] if workflow else "none")
    except (StoreCorrupt, ValidationError):
        return files.set_aside(place.state)
    if workflow is not None:
        while is_there(archived):
            archived = archived.removesuffix(".json") + "-2.json"
        files.write(archived, files.dumped(workflow))
        for file in (place.state, place.state + files.SAFE, place.report):
            remove(file)
    return None


def new_phase(number: int, given: GivenPhase, details: bool) -> Phase:
    """A phase on which no work has been done yet."""
    pair = zip(("title", "agent"), given, strict=False) if isinstance(given, tuple | list) else ()
    more: Phase = dict(given if isinstance(given, Mapping) else pair)
    where, title, agent = f"phases[{number}]", more.get("title"), more.get("agent")
    if not isinstance(title, str) or not title.strip() or not isinstance(agent, str):
        raise ValidationError(f"{where}: a phase needs a title and an agent.", field=where)
    phase: Phase = {"id": f"phase_{number}", "title": title, "agent": agent, "status": PENDING}
    phase |= {"deliverables": [], "context_for_next": ""}
    if details:
        phase |= dict.fromkeys(DETAILS) | {"attempts": 0}
    phase |= {key: more[key] for key in ("depends_on", "wave") if key in more}
    needs: list[str] = more.get("depends_on") or []
    before = [f"phase_{one}" for one in range(number)]  # So that no two wait for each other.
    if type(needs) not in (list, tuple) or any(one not in before for one in needs):
        why = f"{where}: depends_on is {needs!r}: give a list of earlier phases."
        raise ValidationError(why, field="depends_on")
    return phase


def new_id(place: StatusFolder) -> str:
    """An id from the current time, moved forward if an archived workflow already has it."""
    seconds = int(time.time())
    while is_there(_archived(place, id := time.strftime(_ID, time.localtime(seconds)))):
        seconds += 1
    return id


def _archived(place: StatusFolder, workflow_id: str) -> str:
    """The path of an archived workflow. The id has to be a plain file name."""
    if not workflow_id or not workflow_id.replace("_", "").replace("-", "").isalnum():
        raise ValidationError(f"{workflow_id!r} is not the id of a workflow.", field="workflow_id")
    return f"{place.archive}/{workflow_id}.json"
