"""Deleting streams: hidden at once, their events removed in slices.

A fork reads its prefix from the streams that it came from. So what is hidden keeps the events
that a fork needs, and its row of `streams` permanently, lest its id be given again.
"""

import sqlite3
from collections.abc import Callable

from callboard.events.rows import SESSION_COLUMN, SHARED
from callboard.log.admission import admit_deletion

_LAST = 2**62

_HIDE = "UPDATE streams SET hidden = 1, owner = NULL, settled = head, unsettled = 0 WHERE key = ?"
_NEXT = "SELECT key, base FROM streams WHERE hidden = 1 AND key < ? ORDER BY key DESC LIMIT 1"
_NEEDED = "SELECT max(base_position) FROM streams WHERE base = ?"
# The newest event of all stays: the next one's place in the sequence is counted from it.
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
    """Let a stream be as if it had never been, in the transaction that has started; commit it."""
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
    """Up to which position forks read a stream's own events; None when it has no forks."""
    return database.execute(_NEEDED, (key,)).fetchone()[0]


def trim(database: sqlite3.Connection, limit: int) -> int:
    """Remove events that no one can read any more, in the transaction that has started; commit it.

    A fork is always younger than what it came from: going from the youngest to the oldest, one
    pass finds everything. Returns how many events were removed, at most `limit`.
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
    """Need nothing any more of the stream that this one forked, which may then need less."""
    database.execute("UPDATE streams SET base = NULL, base_position = 0 WHERE key = ?", (key,))
    sql = "UPDATE streams SET hidden = 1 WHERE key = ? AND hidden"
    if database.execute(sql, (base,)).rowcount:
        database.execute(_DROP_SHARED, (base, needed(database, base) or 0))
