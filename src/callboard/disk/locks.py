"""Locks on files. The kernel frees a lock when its holder dies, so no timeouts are needed.

A lock belongs to an open file: closing the descriptor frees it.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator

from callboard.disk.private import open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def try_lock(opened: int, *, shared: bool = False) -> bool:
    """Lock an open file unless another process holds the lock; returns whether that worked."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(opened: int) -> None:
    """Unlock a file that stays open."""
    fcntl.flock(opened, fcntl.LOCK_UN)


@contextlib.contextmanager
def locked(file: "Path") -> Generator[None]:
    """Hold the lock of a file, creating it if necessary; waits until the lock is free."""
    opened = open_private(file)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def hold(file: "Path", content: bytes = b"") -> int:
    """Create a file that stays locked until the returned descriptor is closed."""
    # Locked before it gets its name, so that no one finds it unlocked even for a moment.
    nameless = file.with_suffix(".new")
    lock = open_private(nameless, os.O_EXCL)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(lock, content)
    nameless.rename(file)
    return lock


def is_held(file: "Path") -> bool:
    """Whether a process holds the lock of a file; FileNotFoundError if there is no such file."""
    probe = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        # A shared lock, so that two probes don't see each other.
        return not try_lock(probe, shared=True)
    finally:
        os.close(probe)
