"""Locks on files. The kernel frees a lock when its holder dies, so no timeouts are needed.

A lock belongs to an open file: closing the descriptor frees it.
"""

import contextlib
import os
import time
from collections.abc import Generator

from callboard.disk.files import BINARY, CLOEXEC, NOFOLLOW
from callboard.disk.private import open_private

try:
    import fcntl
except ImportError:  # Windows.
    fcntl = None

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    class _ByteLocks(Protocol):
        LK_NBLCK: int
        LK_UNLCK: int

        def locking(self, opened: int, mode: int, count: int, /) -> None: ...


_FAR = 1 << 30
"""Windows locks bytes, and others can't read those. This one is behind the end of every file."""
_PAUSE = 0.005


def try_lock(opened: int, *, shared: bool = False) -> bool:
    """Lock an open file unless another process holds the lock; returns whether that worked."""
    if fcntl is None:
        return _try_byte(opened)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(opened: int) -> None:
    """Unlock a file that stays open."""
    if fcntl is None:
        _with_byte(opened, _byte_locks().LK_UNLCK)
    else:
        fcntl.flock(opened, fcntl.LOCK_UN)


@contextlib.contextmanager
def locked(file: "Path") -> Generator[None]:
    """Hold the lock of a file, creating it if necessary; waits until the lock is free."""
    opened = open_private(file)
    try:
        _wait(opened)
        yield
    finally:
        os.close(opened)


def hold(file: "Path", content: bytes = b"") -> int:
    """Create a file that stays locked until the returned descriptor is closed."""
    if fcntl is None:  # Windows can't rename an open file.
        lock = open_private(file, os.O_EXCL)
        _wait(lock)
        os.write(lock, content)
        return lock
    # Locked before it gets its name, so that no one finds it unlocked even for a moment.
    nameless = file.with_suffix(".new")
    lock = open_private(nameless, os.O_EXCL)
    _wait(lock)
    os.write(lock, content)
    nameless.rename(file)
    return lock


def is_held(file: "Path") -> bool:
    """Whether a process holds the lock of a file; FileNotFoundError if there is no such file."""
    probe = os.open(file, os.O_RDONLY | CLOEXEC | NOFOLLOW | BINARY)
    try:
        # A shared lock, so that two probes don't see each other.
        return not try_lock(probe, shared=True)
    finally:
        os.close(probe)


def _wait(opened: int) -> None:
    if fcntl is not None:
        fcntl.flock(opened, fcntl.LOCK_EX)
        return
    while not _try_byte(opened):
        time.sleep(_PAUSE)


def _try_byte(opened: int) -> bool:
    try:
        _with_byte(opened, _byte_locks().LK_NBLCK)
    except OSError:
        return False
    return True


def _with_byte(opened: int, mode: int) -> None:
    """Lock or unlock the byte; the position in the file stays as it is."""
    before = os.lseek(opened, 0, os.SEEK_CUR)
    os.lseek(opened, _FAR, os.SEEK_SET)
    try:
        _byte_locks().locking(opened, mode, 1)
    finally:
        os.lseek(opened, before, os.SEEK_SET)


def _byte_locks() -> "_ByteLocks":
    import msvcrt

    return msvcrt  # pyright: ignore[reportReturnType] - checked on Linux, where it is empty
