"""Open the database file: created private, recognized as ours, set up for safe writing."""

import os
import sqlite3
import sys
from pathlib import Path

from callboard.disk.private import make_private_folder, open_private
from callboard.errors import StoreError, StoreForeign

APPLICATION_ID = 0x43414C4C
""""CALL", in the header of every Callboard database."""

PAGE_SIZE = 4096
"""Of new databases: SQLite can't change it in one that has a write-ahead log, and older ones have
8192. Each commit writes whole pages, and most commits change little in a handful of them.
"""

NET = 8000
"""A commit empties the write-ahead log only when it has grown to this many pages: a safety net for
handles too short-lived to do it outside the loop (`checkpoint.py`).
"""

# sqlite3 looks up an adapter for each value of these types that it binds. Without one, it looks for
# `__conform__`, which takes longer than binding the value. These return what they are given.
sqlite3.register_adapter(bytes, bytes.__bytes__)
sqlite3.register_adapter(type(None), dict[None, None]().get)

# Statements differ by the columns that an event's rows change; a few dozen shapes are in use.
_STATEMENTS = 512


def create_private(path: Path) -> None:
    """Create the file before SQLite does, so that no other user can ever read it.

    An existing file is never opened here: closing it would drop the locks that another connection
    of this process holds on it.
    """
    try:
        make_private_folder(path.parent)
        if not path.exists():
            os.close(open_private(path, os.O_EXCL))
    except FileExistsError:
        # Another process was faster, or the path leads through a file.
        if not path.parent.is_dir():
            raise StoreError(f"Cannot create {path}: {path.parent} is a file.") from None
    except OSError as error:
        raise StoreError(f"Cannot create {path}: {error.strerror}.", path=str(path)) from error


def connect(path: Path, *, patience: float = 0.0) -> sqlite3.Connection:
    """Open a connection with explicit transactions.

    `patience` is how long SQLite itself may block when the file is locked. A missing file isn't
    created again: it has to be created private first.
    """
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
    )
    if sys.platform == "darwin":
        # There, a sync alone leaves what was committed in the memory of the drive.
        database.execute("PRAGMA fullfsync = 1")
        database.execute("PRAGMA checkpoint_fullfsync = 1")
    return database


def recognise(database: sqlite3.Connection, path: Path) -> None:
    """Refuse another program's database."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    if application == APPLICATION_ID:
        return
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    # Another process may have made the file ours in between: it marks the file before filling it.
    (application,) = database.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID and (application or tables):
        raise StoreForeign(
            f"{path} is a database, but not one of Callboard's; it was left as it is. "
            "Choose another path.",
            path=str(path),
        )


def is_prepared(database: sqlite3.Connection) -> bool:
    """Whether an earlier process has already set up the file."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (mode,) = database.execute("PRAGMA journal_mode").fetchone()
    return application == APPLICATION_ID and mode == "wal"


def prepare(database: sqlite3.Connection, path: Path) -> None:
    """Set up the file: write-ahead log, and every commit synced before it returns."""
    database.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(
            f"{path} is on a disk that cannot hold a write-ahead log (a network drive?). "
            "Choose a path on a local disk.",
            path=str(path),
        )
    database.execute("PRAGMA synchronous = FULL")
    database.execute(f"PRAGMA wal_autocheckpoint = {NET}")
    if database.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
