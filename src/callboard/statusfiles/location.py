"""Where status files are: in the project that someone works in."""

import os


class StatusFolder:
    """The status files of one project: the truth, the same for people, and what is over."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.fspath(root)
        self.state = f"{self.root}/.claude/state/workflow.json"
        self.report = f"{self.root}/.claude/workflow_state_system.md"
        self.archive = f"{self.root}/.claude/state/archive"


def find_place(path: str | os.PathLike[str] | None = None) -> StatusFolder:
    """The project that is meant: the one given, Claude's own, the nearest above, or right here."""
    path = path or os.environ.get("CLAUDE_PROJECT_DIR")
    return StatusFolder(path) if path else nearest()


def nearest(start: str | None = None) -> StatusFolder:
    """The nearest project from a folder upward; the folder itself when there is none."""
    here = folder = os.path.abspath(start or "")
    while not (os.path.isdir(f"{folder}/.claude") or os.path.exists(f"{folder}/.git")):
        above = os.path.dirname(folder)
        if above == folder:
            return StatusFolder(here)
        folder = above
    return StatusFolder(folder)
