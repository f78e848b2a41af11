"""Files with secrets in them: only their owner may read them, and they are never half-written."""

import fcntl
import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from callboard.disk.files import replace
from callboard.disk.private import open_private
from callboard.errors import StoreError

_log = logging.getLogger(__name__)

_OTHERS = 0o077


def read_secret(path: Path) -> str | None:
    """What is in the file; None when there is none. A mode that lets others read is repaired."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
    with os.fdopen(file, encoding="utf-8", errors="replace") as opened:
        _keep_private(opened.fileno(), path)
        return opened.read()


def write_secret(path: Path, text: str) -> None:
    """Put a file in the place of the old one, whole, with mode 0600."""
    replace(path, text.encode())


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Nobody else changes what this lock file stands for; the kernel frees it with its holder."""
    file = open_private(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _keep_private(file: int, path: Path) -> None:
    if not os.fstat(file).st_mode & _OTHERS:
        return
    try:
        os.fchmod(file, 0o600)
    except OSError as error:
        raise StoreError(
            f"{path} can be read by other users and is not ours to change. "
            f"Make it private: chmod 600 {path}",
            path=str(path),
        ) from error
    _log.warning(
        "%s could be read by other users; it is private now. Whoever read it before can still "
        "use what is in it: delete it and start again to make new secrets.",
        path,
    )
