"""One writer at a time, in turn, across processes.

SQLite's own lock isn't fair: the process that asks most often gets it. So a writer first takes
`next`, then waits for `main`, and releases `next` only when it has `main`. A process that has just
written finds `next` taken by the one waiting, and queues behind it.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from callboard.disk.locks import try_lock, unlock
from callboard.disk.private import open_private
from callboard.errors import StoreBusy

_FIRST_PAUSE = 0.000_05
_LONGEST_PAUSE = 0.001


class Turnstile:
    """Two lock files in a folder. The kernel frees them when their holder dies."""

    def __init__(self, folder: Path) -> None:
        self._next = _LockFile(folder / "write.next")
        self._main = _LockFile(folder / "write.main")

    def try_enter(self) -> bool:
        """Enter if no one is inside or waiting; never blocks."""
        if not self._next.take():
            return False
        entered = self._main.take()
        self._next.free()
        if entered:
            self._main.sign()
        return entered

    def enter(self, timeout: float) -> None:
        """Wait for our turn, in a separate thread; StoreBusy names the holder."""
        deadline = time.monotonic() + timeout
        _wait(self._next, deadline, timeout)
        try:
            self._next.sign()
            _wait(self._main, deadline, timeout)
            self._main.sign()
        finally:
            self._next.free()

    def leave(self) -> None:
        """Let the next one in."""
        self._main.free()

    def close(self) -> None:
        """Close the files."""
        self._next.close()
        self._main.close()


class _LockFile:
    def __init__(self, path: Path) -> None:
        self._file = open_private(path)
        self._signature = f"{os.getpid():<10}".encode()

    def take(self) -> bool:
        return try_lock(self._file)

    def free(self) -> None:
        unlock(self._file)

    def sign(self) -> None:
        # Reading is cheaper than writing, and usually we were the last one inside ourselves.
        if self._read() != self._signature:
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, self._signature)

    def signature(self) -> str:
        return self._read().decode(errors="replace").strip() or "unknown"

    def _read(self) -> bytes:
        # Not `pread`, which Windows doesn't have.
        os.lseek(self._file, 0, os.SEEK_SET)
        return os.read(self._file, 10)

    def close(self) -> None:
        os.close(self._file)


def _wait(lock: _LockFile, deadline: float, timeout: float) -> None:
    poll(lock.take, deadline, lambda: busy_because(lock.signature(), timeout))


def poll(attempt: Callable[[], bool], deadline: float, expired: Callable[[], StoreBusy]) -> None:
    """Retry until it works, with short pauses; raises the error from `expired` when time is up."""
    pause = _FIRST_PAUSE
    while not attempt():
        if time.monotonic() >= deadline:
            raise expired()
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def busy_because(holder: str, timeout: float) -> StoreBusy:
    """The error that says who holds the database, and what to do about it."""
    return StoreBusy(
        f"Another process (pid {holder}) has held the database for more than {timeout:g} s; "
        "nothing was written. Check that process, stop it if it hangs, and try again.",
        holder=holder,
    )
