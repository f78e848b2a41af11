"""Migrates a database to this version's schema, a transaction per step, and rebuilds its views."""

import glob
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from callboard.events.envelope import Event
from callboard.events.rows import KEYS, SHARED, Projection
from callboard.log.sqlite.backup import back_up
from callboard.log.sqlite.deletion import needed
from callboard.log.sqlite.reader import Reader
from callboard.log.sqlite.views import statements
from callboard.log.tables import Applied, Migration, migrations, missing_from

_COPY = ".before-migration-from-"

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
)
"""


def known_migrations() -> list[Migration]:
    """The steps that come with this version of Callboard, oldest first."""
    return migrations()


def migrate(
    database: sqlite3.Connection,
    path: Path,
    now_ms: int,
    steps: Sequence[Migration] | None = None,
) -> None:
    """Apply the steps that the database doesn't have yet. The caller holds the write lock."""
    steps = known_migrations() if steps is None else steps
    missing = missing_steps(database, path, steps)
    if missing and (before := applied(database)):
        _back_up(database, path, max(before))
    for step in missing:
        _apply(database, step, now_ms)


def missing_steps(
    database: sqlite3.Connection, path: Path, steps: Sequence[Migration]
) -> list[Migration]:
    """The steps that the database doesn't have yet; raises an error if it isn't ours."""
    return missing_from(applied(database), steps, str(path))


def _back_up(database: sqlite3.Connection, path: Path, version: int) -> None:
    """Copy the database next to itself before changing it. The copy gets its name once complete.

    A process that was killed while copying leaves half a file, which isn't needed: we have the
    lock.
    """
    start = f"{path.name}{_COPY}"
    for half in path.parent.glob(f".{glob.escape(start)}*.part*"):
        half.unlink(missing_ok=True)
    copy = path.with_name(f"{start}{version}")
    number = 1
    while os.path.lexists(copy):
        number += 1
        copy = path.with_name(f"{start}{version}-{number}")
    back_up(database, copy, lambda _done, _total: None)


def applied(database: sqlite3.Connection) -> Applied:
    """The steps that the database has."""
    exists = "SELECT 1 FROM sqlite_master WHERE name = 'migrations'"
    if database.execute(exists).fetchone() is None:
        return {}
    rows = database.execute("SELECT version, name, checksum FROM migrations").fetchall()
    return {version: (name, checksum) for version, name, checksum in rows}


def _apply(database: sqlite3.Connection, step: Migration, now_ms: int) -> None:
    database.execute("BEGIN IMMEDIATE")
    try:
        database.execute(_TABLE)
        for statement in _statements(step.sql):
            database.execute(statement)
        database.execute(
            "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
            (step.version, step.name, step.checksum, now_ms),
        )
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk has already undone it
            database.execute("ROLLBACK")
        raise


def _statements(sql: str) -> list[str]:
    """Split a script; `executescript` would commit first and break the transaction."""
    found: list[str] = []
    rest = ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    if rest.strip():
        found.append(rest)
    return found


def rebuild(database: sqlite3.Connection, project: Projection) -> int:
    """Rebuild the views in the open transaction, and commit it.

    Runs in the writer thread; others read the old views until the end.
    """
    reader = Reader(database, lambda: database)
    for view in KEYS:
        database.execute(f"DELETE FROM {view}")
    count = last = 0
    while found := reader.all_after(last):
        _write(database, [event for _, event in found], project)
        count += len(found)
        last = found[-1][0]
    hidden = database.execute("SELECT key, id FROM streams WHERE hidden").fetchall()
    for key, stream in hidden:
        kept = reader.kept_for_forks(stream, key, needed(database, key) or 0)
        _write(database, kept, project, only=SHARED)
        count += len(kept)
    database.execute("COMMIT")
    return count


def _write(
    database: sqlite3.Connection,
    events: Sequence[Event],
    project: Projection,
    only: str | None = None,
) -> None:
    changes = [change for event in events for change in project(event)]
    wanted = [change for change in changes if only is None or change.table == only]
    for sql, values in statements(wanted):
        database.execute(sql, values)
    # Gives the event loop a turn between two slices.
    time.sleep(0)
