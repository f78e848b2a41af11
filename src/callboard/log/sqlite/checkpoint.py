"""Moving pages from SQLite's write-ahead log into the database, beside the event loop.

SQLite would do it within a COMMIT, every thousand pages: tens of milliseconds in which the
loop stands still. Here a thread with a connection of its own does, while commits continue.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress

from callboard.errors import StoreBusy
from callboard.log.write_lock import Turnstile

PAGES = 1000
"""After about so many written pages the log is emptied: 8 MB."""

# How long to wait for one's turn, and then for those who read an older state of the database.
_TURN = 5.0
_READERS_MS = 50


class Checkpoints:
    """Empties the write-ahead log in a thread; another try comes with the next pages."""

    def __init__(
        self, connect: Callable[[], sqlite3.Connection], turnstile: Callable[[], Turnstile]
    ) -> None:
        self._connect = connect
        self._turnstile = turnstile
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="callboard-checkpoint")
        self._running: Future[None] | None = None
        self._pages = 0

    def wrote(self, pages: int) -> None:
        """Count what a commit has written; called by the committer, one at a time."""
        self._pages += pages
        if self._pages >= PAGES and (self._running is None or self._running.done()):
            self._pages = 0
            self._running = self._thread.submit(self._empty)

    def _empty(self) -> None:
        # Nothing is lost but time; whatever is wrong, the process that commits next meets it too.
        with suppress(sqlite3.Error, StoreBusy), closing(self._connect()) as database:
            database.execute(f"PRAGMA busy_timeout = {_READERS_MS}")
            # Most of it while others write on. They may always be some pages ahead, and then
            # the log would grow for ever: so the rest of it in a turn of its own.
            if _moved_all(database, "PASSIVE"):
                with closing(self._turnstile()) as turnstile:
                    turnstile.enter(_TURN)
                    _moved_all(database, "FULL")

    def finish(self) -> None:
        """Wait for what was started."""
        if self._running is not None:
            wait([self._running])

    def close(self) -> None:
        """Finish, and end the thread."""
        self._thread.shutdown()


def _moved_all(database: sqlite3.Connection, how: str) -> bool:
    """Move what can be moved; false while someone still reads an older state."""
    busy, logged, moved = database.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
    return not busy and moved >= logged
