"""What to type for this command again."""

import shutil
import sys
from pathlib import Path

_NAME = "callboard"


def program() -> str:
    """Its name where the shell finds it, else how it was called."""
    called = sys.argv[0]
    is_ours = Path(called).name == _NAME
    return called if is_ours and shutil.which(_NAME) is None else _NAME
