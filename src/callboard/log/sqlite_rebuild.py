"""Making the views again from the events."""

import sqlite3
import time

from callboard.events.rows import Projection
from callboard.log.sqlite_reader import Reader
from callboard.log.sqlite_views import clear, statements


def rebuild(database: sqlite3.Connection, project: Projection) -> int:
    """Empty the views and fill them anew, in the transaction that has begun, and commit it.

    Runs in the writer thread; others read the old views until the end.
    """
    reader = Reader(database, lambda: database)
    clear(database)
    count = last = 0
    while events := reader.all_after(last):
        changes = [change for _, event in events for change in project(event)]
        for sql, values in statements(changes):
            database.execute(sql, values)
        count += len(events)
        last = events[-1][0]
        # Lets the event loop have the interpreter between two slices.
        time.sleep(0)
    database.execute("COMMIT")
    return count
