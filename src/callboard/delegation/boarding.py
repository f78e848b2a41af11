"""How a delegated agent is seen on the board: by the hooks that the person has, or by our own."""

import json
from pathlib import Path
from typing import Final

from callboard.delegation.state import Delegation
from callboard.vendors.claude.launching import has_our_hooks
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings import Plan

_LONGEST: Final = 60


def board_arguments(state: Delegation, name: str) -> list[str]:
    """Arguments that let the client tell the board what it does, and under which name."""
    named = f"--name={' '.join(name.split())[:_LONGEST]}"
    board = state.terms.board
    if board is None or has_our_hooks(Path(board.folder), Path(state.cwd)):
        return [named]
    wanted = ClaudeSettings().wanted(Plan(Path(board.folder), Path(board.database)))
    return [named, "--settings", json.dumps(wanted)]
