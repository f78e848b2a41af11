"""Open a database for writing: only if it is ours, one process at a time, and up to date."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from callboard.clock import Clock
from callboard.disk.private import make_own_folder
from callboard.errors import StoreError
from callboard.log.sqlite.errors import is_done, translate
from callboard.log.sqlite.file import connect, create_private, is_prepared, prepare, recognise
from callboard.log.sqlite.identity import Identities
from callboard.log.sqlite.migrate import applied, known_migrations, migrate, missing_steps
from callboard.log.sqlite.tokens import import_tokens, token_file
from callboard.log.sqlite.transaction import WriteTarget
from callboard.log.write_lock import Turnstile, busy_because, poll


def set_up(
    path: Path, given: Path, clock: Clock, lock_timeout: float
) -> tuple[sqlite3.Connection, WriteTarget]:
    """Open the file, and create or migrate its content.

    Blocks while another process does the same. Doesn't wait if there is nothing to do.
    given: the path as the user named it.
    """
    create_private(path)
    identities = Identities(path, given)
    try:
        # First, so that nothing is left next to someone else's file.
        with closing(connect(path, patience=lock_timeout)) as database:
            recognise(database, path)
        turnstile = _turnstile(path)
        try:
            has_file = token_file(path).exists()
            database = None if has_file else _ready(path, lock_timeout)
            if database is None:
                turnstile.enter(lock_timeout)
                database = _prepared(path, clock, lock_timeout)
            # While it is open, SQLite's files next to it aren't removed by others who close it.
            identities.note_all()
        except BaseException:
            # Closing also frees the lock.
            turnstile.close()
            raise
        turnstile.leave()
        return database, WriteTarget(path, turnstile, identities, lock_timeout, clock)
    except sqlite3.Error as error:
        raise translate(error, path) from error


def schema_version(path: Path, lock_timeout: float) -> int:
    """The version of a file's schema, without changing it; 0 if there is no such file."""
    if not path.exists():
        return 0
    try:
        with closing(connect(path, patience=lock_timeout)) as database:
            recognise(database, path)
            return max(applied(database), default=0)
    except sqlite3.Error as error:
        raise translate(error, path) from error


def live_folder(path: Path) -> Path:
    """The folder next to the database where its processes meet."""
    return path.with_name(path.name + "-live")


def _turnstile(path: Path) -> Turnstile:
    folder = live_folder(path)
    try:
        make_own_folder(folder)
        return Turnstile(folder)
    except OSError as error:
        raise StoreError(
            f"Cannot use {folder} ({error.strerror}). Callboard keeps its locks there: make it "
            "writable, or choose another path for the database.",
            path=str(folder),
        ) from error


def _ready(path: Path, timeout: float) -> sqlite3.Connection | None:
    """The database as it is; None if something has to be written before it can be used.

    A reader must not wait for a process that holds the write lock, or hangs in it.
    """
    database = connect(path, patience=timeout)
    try:
        if is_prepared(database) and not missing_steps(database, path, known_migrations()):
            prepare(database, path)
            database.execute("PRAGMA busy_timeout = 0")
            return database
    except BaseException:
        database.close()
        raise
    database.close()
    return None


def _prepared(path: Path, clock: Clock, timeout: float) -> sqlite3.Connection:
    database = connect(path, patience=timeout)
    try:
        recognise(database, path)
        # Switching to the write-ahead log doesn't wait, whatever the connection's timeout.
        poll(
            lambda: is_done(lambda: prepare(database, path)),
            time.monotonic() + timeout,
            lambda: busy_because("unknown", timeout),
        )
        migrate(database, path, clock.now_ms())
        import_tokens(database, path)
        # From now on, waiting happens at the turnstile: SQLite must never block the loop.
        database.execute("PRAGMA busy_timeout = 0")
    except BaseException:
        database.close()
        raise
    return database
