"""Where Claude Code keeps the person's own files."""

import os
from pathlib import Path


def home() -> Path:
    """The client's folder for the person's own files."""
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given).expanduser() if given else Path.home() / ".claude"
