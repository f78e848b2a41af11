"""The database in which opencode keeps its conversations, opened so that nothing in it changes."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Final

from callboard.disk.private import open_own
from callboard.errors import TranscriptUnreadable

_PATIENCE: Final = 1.0
"""Seconds to wait for a lock. Readers rarely need one: the client writes ahead."""
_LONGEST: Final = 10.0
"""Seconds for which a database may be read at once: it can contain any view instead of a table."""
_LOOK_EVERY: Final = 100_000
"""Steps of SQLite between two looks at the clock."""


def database_path() -> str:
    """Where the client keeps it."""
    given = os.environ.get("XDG_DATA_HOME")
    data = Path(given) if given else Path.home() / ".local" / "share"
    return str(data / "opencode" / "opencode.db")


@contextmanager
def reading(path: str) -> Generator[sqlite3.Connection]:
    """A connection that sees the database as it is now. TranscriptUnreadable if there is none."""
    try:
        os.close(open_own(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        said = f"The conversations in {path} can't be read: {reason}."
        raise TranscriptUnreadable(said) from error
    try:
        with closing(sqlite3.connect(_uri(path), uri=True, timeout=_PATIENCE)) as found:
            # Texts may not be UTF-8, and most are parsed as JSON.
            found.text_factory = bytes
            found.isolation_level = None
            found.execute("PRAGMA trusted_schema = OFF")
            end = monotonic() + _LONGEST
            found.set_progress_handler(lambda: monotonic() > end, _LOOK_EVERY)
            found.execute("BEGIN")
            yield found
    except sqlite3.Error as error:
        raise TranscriptUnreadable(
            f"The conversations in {path} can't be read: {error}. "
            "This version of opencode may keep them in another form."
        ) from error


def _uri(path: str) -> str:
    """How to open it. Without a log to read, nothing is created beside it, either."""
    wal = Path(path + "-wal")
    is_quiet = not wal.exists() or wal.stat().st_size == 0
    return f"{Path(path).as_uri()}?mode=ro{'&immutable=1' if is_quiet else ''}"
