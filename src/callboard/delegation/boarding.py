"""How a delegated agent is seen on the board: by the hooks that the person has, or by our own."""

import json
from pathlib import Path

from callboard.delegation.state import Delegation
from callboard.vendors.claude.launching import has_our_hooks
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings import Plan


def board_arguments(state: Delegation) -> list[str]:
    """Arguments that let the client tell the board what it does, unless it does so anyway."""
    board = state.terms.board
    if board is None or has_our_hooks(Path(board.folder), Path(state.cwd)):
        return []
    wanted = ClaudeSettings().wanted(Plan(Path(board.folder), Path(board.database)))
    return ["--settings", json.dumps(wanted)]
