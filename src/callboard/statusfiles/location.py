"""Where status files are: in the project being worked on."""

import os


class StatusFolder:
    """The paths of a project's status files: the state, the report, and the archive."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.fspath(root)
        self.state = f"{self.root}/.claude/state/workflow.json"
        self.report = f"{self.root}/.claude/workflow_state_system.md"
        self.archive = f"{self.root}/.claude/state/archive"


def find_place(path: str | os.PathLike[str] | None = None) -> StatusFolder:
    """The given project, Claude's project, the nearest one above, or the current folder."""
    path = path or os.environ.get("CLAUDE_PROJECT_DIR")
    return StatusFolder(path) if path else nearest()


def nearest(start: str | None = None) -> StatusFolder:
    """The nearest project from a folder upward; the folder itself if there is no project."""
    here = folder = os.path.abspath(start or "")
    while not (os.path.isdir(f"{folder}/.claude") or os.path.exists(f"{folder}/.git")):
        above = os.path.dirname(folder)
        if above == folder:
            return StatusFolder(here)
        folder = above
    return StatusFolder(folder)
