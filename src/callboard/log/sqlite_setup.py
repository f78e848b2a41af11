"""Opening a database for writing: once it is ours, once at a time, and up to date."""

import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from callboard.clock import Clock
from callboard.disk.private import make_own_folder
from callboard.errors import StoreError
from callboard.log.migrate import migrate
from callboard.log.sqlite_errors import is_busy, translate
from callboard.log.sqlite_file import connect, create_private, prepare, recognise
from callboard.log.sqlite_identity import Identities
from callboard.log.turnstile import Turnstile, busy_because, poll


class Opened(NamedTuple):
    """A database, the lock that guards it, and what tells whether it is still the same file."""

    database: sqlite3.Connection
    turnstile: Turnstile
    identities: Identities


def set_up(path: Path, given: Path, clock: Clock, lock_timeout: float) -> Opened:
    """Open the file, and create or migrate what is in it.

    Blocks while another process does the same. given: the path as somebody named it.
    """
    create_private(path)
    identities = Identities(path, given)
    try:
        # First of all, so that beside somebody else's file nothing is left behind.
        _look_at(path, lock_timeout)
        turnstile = _turnstile(path)
        try:
            turnstile.enter(lock_timeout)
            database = _prepared(path, clock, lock_timeout)
            identities.note_all()
        except BaseException:
            # Closing frees the lock as well.
            turnstile.close()
            raise
        turnstile.leave()
        return Opened(database, turnstile, identities)
    except sqlite3.Error as error:
        raise translate(error, path) from error


def live_folder(path: Path) -> Path:
    """The folder beside the database where the processes that use it meet."""
    return path.with_name(path.name + "-live")


def _look_at(path: Path, patience: float) -> None:
    database = connect(path, patience=patience)
    try:
        recognise(database, path)
    finally:
        database.close()


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


def _prepared(path: Path, clock: Clock, timeout: float) -> sqlite3.Connection:
    database = connect(path, patience=timeout)
    try:
        recognise(database, path)
        _prepare(database, path, timeout)
        migrate(database, path, clock.now_ms())
        # From now on the turnstile is where one waits: SQLite must never block the loop.
        database.execute("PRAGMA busy_timeout = 0")
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection, path: Path, timeout: float) -> None:
    def attempt() -> bool:
        # Switching to the write-ahead log does not wait, however patient the connection is.
        try:
            prepare(database, path)
        except sqlite3.OperationalError as error:
            if is_busy(error):
                return False
            raise
        return True

    poll(attempt, time.monotonic() + timeout, lambda: busy_because("unknown", timeout))
