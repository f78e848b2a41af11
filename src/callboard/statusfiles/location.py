"""Where status files are: in the project that somebody works in."""

import os
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):  # A dataclass would take longer to load than all the rest.
    """The status files of one project."""

    root: Path

    @property
    def state(self) -> Path:
        """The truth."""
        return self.root / ".claude" / "state" / "workflow.json"

    @property
    def report(self) -> Path:
        """The same for people."""
        return self.root / ".claude" / "workflow_state_system.md"

    @property
    def archive(self) -> Path:
        """Workflows that are over."""
        return self.root / ".claude" / "state" / "archive"

    @property
    def templates(self) -> Path:
        """Phases that somebody uses again and again."""
        return self.root / ".claude" / "workflow_templates"


def find_place(path: str | os.PathLike[str] | None = None) -> Place:
    """The project that is meant: the one given, Claude's own, the nearest above, or right here."""
    if path is not None:
        return Place(Path(path))
    told = os.environ.get("CLAUDE_PROJECT_DIR")
    if told:
        return Place(Path(told))
    return nearest()


def nearest(start: str | os.PathLike[str] | None = None) -> Place:
    """The nearest project from a folder upward; the folder itself when there is none."""
    here = Path(start) if start else Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".claude").is_dir() or (folder / ".git").exists():
            return Place(folder)
    return Place(here)
