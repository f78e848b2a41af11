"""Move pages from SQLite's write-ahead log into the database, outside the event loop.

SQLite would do it within a COMMIT, every thousand pages, and block the loop for tens of
milliseconds. Here a thread with its own connection does it, while commits continue.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress

from callboard.errors import StoreBusy
from callboard.log.write_lock import Turnstile

PAGES = 2000
"""The log is emptied after about this many written pages: 8 MB."""

# How long to wait for our turn, and then for readers of an older state of the database.
_TURN = 5.0
_READERS_MS = 50


class Checkpoints:
    """Empties the write-ahead log in a thread, and tries again after more pages."""

    def __init__(
        self, connect: Callable[[], sqlite3.Connection], turnstile: Callable[[], Turnstile]
    ) -> None:
        self._connect = connect
        self._turnstile = turnstile
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="callboard-checkpoint")
        self._running: Future[None] | None = None
        self._pages = 0

    def wrote(self, pages: int) -> None:
        """Count what a commit has written. Called by the committer, one at a time."""
        self._pages += pages
        if self._pages >= PAGES and (self._running is None or self._running.done()):
            self._pages = 0
            self._running = self._thread.submit(self._empty)

    def _empty(self) -> None:
        # Nothing is lost but time, and the next commit runs into the same problem anyway.
        with suppress(sqlite3.Error, StoreBusy), closing(self._connect()) as database:
            database.execute(f"PRAGMA busy_timeout = {_READERS_MS}")
            # Most of it while others keep writing. They may always stay a few pages ahead, and the
            # log would grow forever, so the rest gets a turn of its own.
            if _moved_all(database, "PASSIVE"):
                with closing(self._turnstile()) as turnstile:
                    turnstile.enter(_TURN)
                    _moved_all(database, "FULL")

    def finish(self) -> None:
        """Wait for the current run."""
        if self._running is not None:
            wait([self._running])

    def close(self) -> None:
        """Finish, and stop the thread."""
        self._thread.shutdown()


def _moved_all(database: sqlite3.Connection, how: str) -> bool:
    """Move what can be moved; returns False while someone still reads an older state."""
    busy, logged, moved = database.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
    return not busy and moved >= logged
