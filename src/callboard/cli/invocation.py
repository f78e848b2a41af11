"""What was typed before the command's name, and how to call the program again."""

import sys
from pathlib import Path
from typing import NamedTuple

DB_HELP = "The database: a path, sqlite:///path or postgresql://user@host/name."
"""The help of --db, for commands that take any database."""

_NAME = "callboard"


class Invocation(NamedTuple):
    """The database and the server, and whether the person typed them."""

    db: str | None = None
    server: str | None = None
    db_was_typed: bool = False
    server_was_typed: bool = False


def program() -> str:
    """The program's name if the shell finds it, otherwise how it was called."""
    import shutil  # Most commands print no command line.

    called = sys.argv[0]
    is_ours = Path(called).name == _NAME
    return called if is_ours and shutil.which(_NAME) is None else _NAME
