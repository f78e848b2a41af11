"""Translates SQLite's errors into Callboard's."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from callboard.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """The error that says what happened to the database at `path`, and what to do."""
    match _kind(error):
        case sqlite3.SQLITE_FULL:
            return StoreFull(
                f"The disk that holds {path} is full; nothing was written and nothing is lost. "
                "Free some space and try again.",
                path=str(path),
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return StoreCorrupt(
                f"{path} is damaged, or is not a database ({error}). Keep a copy of it and of its "
                f"-wal file, then restore a backup, or try: sqlite3 {path} .recover",
                path=str(path),
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(
                f"{path} is locked by another program; nothing was written. Close that program "
                "and try again.",
                path=str(path),
            )
        case _:
            return StoreError(
                f"The database {path} failed ({error}); nothing was written.",
                path=str(path),
            )


def is_done(work: Callable[[], object]) -> bool:
    """Run it unless another program holds the file; returns whether it ran."""
    try:
        work()
    except sqlite3.OperationalError as error:
        if _kind(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        raise
    return True


def _kind(error: sqlite3.Error) -> int:
    # The low byte is the kind of error; the rest only says in which call it occurred.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
