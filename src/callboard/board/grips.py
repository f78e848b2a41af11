"""Which questions somebody holds a hook open for, in whatever process: a lock for each.

The kernel takes the lock away with the process, so none can be left behind.
"""

import fcntl
import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from callboard.disk.private import make_private_folder


class Grips:
    """Locks in a folder of the hooks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "held"

    @contextmanager
    def hold(self, interaction_id: str) -> Generator[None]:
        """Show that a hook waits here for this question, for as long as it does."""
        file = self._file(interaction_id)
        try:
            make_private_folder(self._folder)
            opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(opened, fcntl.LOCK_SH)
        except OSError:
            # A disk that is full keeps nobody from waiting; only other servers do not see it.
            yield
            return
        try:
            yield
        finally:
            file.unlink(missing_ok=True)
            os.close(opened)

    def is_held(self, interaction_id: str) -> bool:
        """Whether somebody waits for it, here or in another server."""
        try:
            opened = os.open(self._file(interaction_id), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(opened)
        return False

    def _file(self, interaction_id: str) -> Path:
        # An id comes from outside, and could be a path.
        return self._folder / hashlib.sha256(interaction_id.encode("utf-8", "replace")).hexdigest()
