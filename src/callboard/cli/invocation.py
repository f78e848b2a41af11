"""What was typed before the command's name, and what to type to call it again."""

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

_NAME = "callboard"


class Invocation(NamedTuple):
    """Which database and which server, and whether the person typed it."""

    db: str | None = None
    server: str | None = None
    db_was_typed: bool = False
    server_was_typed: bool = False


def program() -> str:
    """Its name where the shell finds it, else how it was called."""
    called = sys.argv[0]
    is_ours = Path(called).name == _NAME
    return called if is_ours and shutil.which(_NAME) is None else _NAME
