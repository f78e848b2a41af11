"""Deleting streams: hidden immediately, with their events removed in slices.

A fork reads its prefix from its ancestors. So a hidden stream keeps the events that forks need, and
its row in `streams` permanently, so that its id isn't reused.
"""

import sqlite3
from collections.abc import Callable

from callboard.events.rows import SESSION_COLUMN, SHARED
from callboard.log.admission import admit_deletion

_LAST = 2**62

_HIDE = "UPDATE streams SET hidden = 1, owner = NULL, settled = head, unsettled = 0 WHERE key = ?"
_NEXT = "SELECT key, base FROM streams WHERE hidden = 1 AND key < ? ORDER BY key DESC LIMIT 1"
_NEEDED = "SELECT max(base_position) FROM streams WHERE base = ?"
# The newest event is kept: the sequence continues from it.
_REMOVE = (
    "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE stream = ? AND position > ? "
    "AND seq < (SELECT max(seq) FROM events) LIMIT ?)"
)
_UNNEEDED = "SELECT 1 FROM events WHERE stream = ? AND position > ? LIMIT 1"
_DROP_SHARED = (
    f"DELETE FROM {SHARED} WHERE {SESSION_COLUMN[SHARED]} = (SELECT id FROM streams WHERE key = ?) "
    "AND position > ?"
)


def hide(database: sqlite3.Connection, stream: str, alive: Callable[[str], bool]) -> None:
    """Hide a stream in the open transaction, and commit it."""
    sql = "SELECT key, owner FROM streams WHERE id = ? AND NOT hidden"
    row = database.execute(sql, (stream,)).fetchone()
    key, owner = row or (0, None)
    admit_deletion(stream, owner if owner and alive(owner) else None, exists=row is not None)
    database.execute(_HIDE, (key,))
    for view, column in SESSION_COLUMN.items():
        if view != SHARED:
            database.execute(f"DELETE FROM {view} WHERE {column} = ?", (stream,))
    database.execute(_DROP_SHARED, (key, needed(database, key) or 0))
    database.execute("COMMIT")


def needed(database: sqlite3.Connection, key: int) -> int | None:
    """The position up to which forks read a stream's own events; None without forks."""
    return database.execute(_NEEDED, (key,)).fetchone()[0]


def trim(database: sqlite3.Connection, limit: int) -> int:
    """Remove events that can no longer be read, in the open transaction, and commit it.

    A fork is always younger than its parent, so going from the youngest to the oldest finds
    everything in one pass. Returns the number of events removed, at most `limit`.
    """
    removed, key = 0, _LAST
    while removed < limit:
        row = database.execute(_NEXT, (key,)).fetchone()
        if row is None:
            break
        key, base = row
        removed += _trim_stream(database, key, base, limit - removed)
    database.execute("COMMIT")
    return removed


def _trim_stream(database: sqlite3.Connection, key: int, base: int | None, limit: int) -> int:
    upto = needed(database, key)
    if upto is None and base is not None:
        _cut_off(database, key, base)
    kept = upto or 0
    removed = database.execute(_REMOVE, (key, kept, limit)).rowcount
    if database.execute(_UNNEEDED, (key, kept)).fetchone() is None:
        database.execute("UPDATE streams SET hidden = 2 WHERE key = ?", (key,))
    return removed


def _cut_off(database: sqlite3.Connection, key: int, base: int) -> None:
    """Detach a stream from the one it forked, which may then need less."""
    database.execute("UPDATE streams SET base = NULL, base_position = 0 WHERE key = ?", (key,))
    sql = "UPDATE streams SET hidden = 1 WHERE key = ? AND hidden"
    if database.execute(sql, (base,)).rowcount:
        database.execute(_DROP_SHARED, (base, needed(database, base) or 0))
