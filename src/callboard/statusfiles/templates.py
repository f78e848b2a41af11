"""Phases that somebody uses again and again: `.claude/workflow_templates/NAME.json`."""

import json
from pathlib import Path
from typing import Any, cast

from callboard.errors import NotFound, ValidationError
from callboard.statusfiles import files
from callboard.statusfiles.location import Place

Phases = list[dict[str, Any]]


def _folder(place: Place) -> Path:
    return Path(place.root, ".claude", "workflow_templates")


def template_names(place: Place) -> list[str]:
    """The templates that the project has."""
    return sorted(file.stem for file in _folder(place).glob("*.json"))


def read_template(place: Place, name: str) -> Phases:
    """The phases of one template: a list of them, or an object with `phases`."""
    if name not in template_names(place):
        known = ", ".join(template_names(place)) or "none yet"
        raise NotFound(
            f"There is no template {name!r}. In {_folder(place)} there is: {known}.", template=name
        )
    file = _folder(place) / f"{name}.json"
    try:
        found = json.loads(files.data_of(file) or b"")
    except (ValueError, RecursionError) as error:
        raise files.broken(file, str(error)) from error
    if isinstance(found, dict):
        found = cast("dict[str, Any]", found).get("phases")
    phases = cast("list[Any]", found) if isinstance(found, list) else []
    if not phases or not all(isinstance(phase, dict) for phase in phases):
        raise ValidationError(
            f'{file} has no phases. Write [{{"title": "…", "agent": "…"}}, …].', template=name
        )
    return phases
