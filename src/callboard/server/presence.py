"""A sign beside a database that a server drives its sessions, for commands that would.

The sign is a lock that the kernel takes away with the process, so it cannot outlive the server.
"""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_LOOKS = 3
_MOMENT = 0.002


def _sign(database: Path) -> Path:
    return database.resolve().with_name(database.name + "-live") / "server"


@contextmanager
def present(database: Path) -> Generator[None]:
    """Show that a server is here, for as long as it is."""
    sign = os.open(_sign(database), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # Shared, because several servers may serve one database. Whoever looks has it for a moment.
        fcntl.flock(sign, fcntl.LOCK_SH)
        yield
    finally:
        os.close(sign)


def is_served(database: Path) -> bool:
    """Whether a server that lives drives the sessions of this database."""
    try:
        sign = os.open(_sign(database), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return all(_is_locked(sign) for _ in range(_LOOKS))
    finally:
        os.close(sign)


def _is_locked(sign: int) -> bool:
    try:
        fcntl.flock(sign, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # It may be another who looks, and is gone in a moment.
        time.sleep(_MOMENT)
        return True
    fcntl.flock(sign, fcntl.LOCK_UN)
    return False
