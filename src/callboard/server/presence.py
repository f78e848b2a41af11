"""Signs beside a database that servers drive its sessions, for commands that would.

A sign is a file that its server keeps locked, so the kernel takes it down with the process: what
is not locked is what a killed one left. In it stand the workflows that the server knows.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_LOOKS: Final = 3
_MOMENT: Final = 0.002
_PREFIX: Final = "server-"


def _folder(database: Path) -> Path:
    file = database.resolve()  # The name of a link to it is of no matter.
    return file.with_name(file.name + "-live")


@contextmanager
def present(database: Path, workflows: Collection[str]) -> Generator[None]:
    """Show that a server is here, for as long as it is."""
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    sign, hidden = _folder(database) / name, _folder(database) / f".{name}"
    handle = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        os.write(handle, json.dumps(sorted(workflows)).encode())
        # Locked and written before anybody can see it: an unlocked one is swept away.
        hidden.rename(sign)
        yield
    finally:
        for file in (sign, hidden):
            file.unlink(missing_ok=True)
        os.close(handle)


def is_served(database: Path) -> bool:
    """Whether a server that lives is at this database."""
    return next(_living(database), None) is not None


def is_driven(database: Path, workflow: str) -> bool:
    """Whether a server that lives drives the sessions of this workflow."""
    return any(workflow in known for known in _living(database))


def _living(database: Path) -> Iterator[list[str]]:
    """What each server that is here knows."""
    for sign in _folder(database).glob(f"{_PREFIX}*"):
        try:
            handle = os.open(sign, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if all(_is_locked(handle) for _ in range(_LOOKS)):
                yield json.loads(os.read(handle, os.fstat(handle).st_size))
            else:
                with suppress(OSError):
                    sign.unlink()
        finally:
            os.close(handle)


def _is_locked(sign: int) -> bool:
    try:
        fcntl.flock(sign, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # It may be another who looks, and is gone in a moment.
        time.sleep(_MOMENT)
        return True
    fcntl.flock(sign, fcntl.LOCK_UN)
    return False
