"""Making the views again from the events."""

import sqlite3
import time
from collections.abc import Sequence

from callboard.events.envelope import Event
from callboard.events.rows import SHARED, Projection
from callboard.log.sqlite_delete import needed
from callboard.log.sqlite_reader import Reader
from callboard.log.sqlite_views import clear, statements


def rebuild(database: sqlite3.Connection, project: Projection) -> int:
    """Empty the views and fill them anew, in the transaction that has begun, and commit it.

    Runs in the writer thread; others read the old views until the end.
    """
    reader = Reader(database, lambda: database)
    clear(database)
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
    # Lets the event loop have the interpreter between two slices.
    time.sleep(0)
