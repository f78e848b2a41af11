"""All workflows of a project: the current one and the archived ones."""

import os
from collections.abc import Iterator

from callboard.disk.project_files import names_in
from callboard.errors import StoreError
from callboard.statusfiles import files
from callboard.statusfiles.location import StatusFolder, find_place
from callboard.statusfiles.phases import Workflow
from callboard.statusfiles.workflows import Where, load, put_away


class Shelved:
    """One workflow; None if its file cannot be parsed."""

    def __init__(self, name: str, is_current: bool, workflow: Workflow | None) -> None:
        self.name = name
        self.is_current = is_current
        self.workflow = workflow


def archive(workflow_id: str | None = None, *, path: Where = None) -> str:
    """Archive the workflow so that the next one can start; returns its id."""
    place = find_place(path)
    with files.locked(place.state):
        workflow = load(place, workflow_id)
        put_away(place)
    return workflow["id"]


def all_workflows(place: StatusFolder) -> Iterator[Shelved]:
    """The current one first, then the archived ones, newest first."""
    if os.path.exists(place.state):
        workflow = _read(place.state)
        name = str(workflow["id"]) if workflow else os.path.basename(place.state)
        yield Shelved(name, True, workflow)
    names = [one for one in names_in(place.archive) if one.endswith(".json")]
    for name in sorted(names, reverse=True):
        yield Shelved(name.removesuffix(".json"), False, _read(f"{place.archive}/{name}"))


def _read(file: str) -> Workflow | None:
    try:
        return files.read(file)
    except StoreError:
        return None
