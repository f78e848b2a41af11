"""All workflows of a project: the one of now, and those that were archived."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from callboard.errors import StoreError
from callboard.statusfiles import files
from callboard.statusfiles.location import Place
from callboard.statusfiles.phases import Workflow


class Shelved(NamedTuple):
    """One workflow; None when its file cannot be understood."""

    name: str
    is_current: bool
    workflow: Workflow | None


def all_workflows(place: Place) -> Iterator[Shelved]:
    """The current one first, then the archived ones, newest first."""
    if place.state.exists():
        workflow = _read(place.state)
        yield Shelved(str(workflow["id"]) if workflow else place.state.name, True, workflow)
    for file in sorted(place.archive.glob("*.json"), reverse=True):
        yield Shelved(file.stem, False, _read(file))


def _read(file: Path) -> Workflow | None:
    try:
        return files.read(file)
    except StoreError:
        return None
