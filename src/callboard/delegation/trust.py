"""Whether a person trusts a project: the client asks that once, but not where it runs headless."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from callboard.errors import ValidationError
from callboard.vendors.claude.settings import home
from callboard.vendors.fields import as_object


def check_trust(folder: Path) -> None:
    """ValidationError where a project's own settings would run something that nobody agreed to."""
    own = next(_own_settings(folder), None)
    if own is None or _is_trusted(folder):
        return
    raise ValidationError(
        f"Claude Code was never told to trust {folder}, and {own} can make it run commands. "
        "Look at it, then run `claude` here once and trust the folder.",
        field="cwd",
    )


def _own_settings(folder: Path) -> Iterator[Path]:
    """What the client would obey here, up to the root of the repository."""
    persons = home().resolve()
    for place in _up_to_root(folder):
        if (place / ".claude").resolve() != persons:
            yield from sorted((place / ".claude").glob("settings*.json"))
        if (place / ".mcp.json").exists():
            yield place / ".mcp.json"


def _up_to_root(folder: Path) -> list[Path]:
    places = [folder, *folder.parents]
    roots = (number for number, place in enumerate(places) if (place / ".git").exists())
    return places[: next(roots, 0) + 1]


def _is_trusted(folder: Path) -> bool:
    projects = as_object(_known().get("projects"))
    return any(
        as_object(projects.get(str(place))).get("hasTrustDialogAccepted") is True
        for place in (folder, *folder.parents)
    )


def _known() -> dict[str, Any]:
    """What the client remembers; nothing where it was never used."""
    place = home() if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()
    try:
        known: Any = json.loads((place / ".claude.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", known) if isinstance(known, dict) else {}
