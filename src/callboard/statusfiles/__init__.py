"""Status files: what delegated work is in progress, why, and how far along it is.

`.claude/state/workflow.json` is the source of truth; `.claude/workflow_state_system.md` is the same
for people. Agents use them without a server, so this needs only the standard library.
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
