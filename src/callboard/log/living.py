"""Files that are locked for as long as their process lives.

The kernel frees the lock when the process dies, so death needs no timeout.
"""

import fcntl
import os
from pathlib import Path

from callboard.disk.private import open_private


def hold(file: Path, content: bytes = b"") -> int:
    """Make a file and lock it, until the descriptor that is returned is closed."""
    # It gets its name when it is locked already: nobody may find it free for a moment.
    nameless = file.with_suffix(".new")
    lock = open_private(nameless, os.O_EXCL)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(lock, content)
    nameless.rename(file)
    return lock


def is_held(file: Path) -> bool:
    """Whether its process lives; FileNotFoundError when there is no such file."""
    probe = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Shared, so that two who probe at once do not take each other for the owner.
        fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(probe)
    return False
