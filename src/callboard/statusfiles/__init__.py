"""Status files: what delegated work is being done, why, and how far, for people and agents to read.

`.claude/state/workflow.json` is the truth, `.claude/workflow_state_system.md` the same to look at.
Agents use them with no server running, so all of this needs nothing but the standard library.
"""

from callboard.statusfiles.markdown import generate_markdown
from callboard.statusfiles.shelf import archive
from callboard.statusfiles.turns import advance
from callboard.statusfiles.workflows import (
    create_workflow_state,
    get_workflow_state,
    update_phase_status,
)

__all__ = [
    "advance",
    "archive",
    "create_workflow_state",
    "generate_markdown",
    "get_workflow_state",
    "update_phase_status",
]
