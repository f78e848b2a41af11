"""Whether the open files are still the database that everyone else sees.

Writes to a deleted or replaced file still succeed: SQLite doesn't notice, and acknowledged data is
gone when the last process closes the file. So check before each commit.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from callboard.errors import StoreError
from callboard.systems.open_files import open_files

_DELETED: Final = " (deleted)"
_LOOK_EVERY: Final = 0.05

Identity = tuple[int, int]


class Identities:
    """Device and inode of a database and of SQLite's files next to it."""

    def __init__(self, path: Path, given: Path) -> None:
        """path: the file itself. given: as the user named it, possibly through symlinks."""
        self._path = path
        self._main: dict[str, Identity] = {}
        self._all: dict[str, Identity] = {}
        self._looked_at = 0.0
        for file in {str(path), str(given)}:
            self._main[file] = _identity(file)

    def note_all(self) -> None:
        """Remember the files next to it too, now that they exist; the caller may write."""
        _check(self._main)
        beside = [f"{self._path}{end}" for end in ("-wal", "-shm")]
        self._all = self._main | {file: _identity(file) for file in beside}

    def check(self) -> None:
        """Raise a StoreError unless all of them are unchanged. Takes three system calls."""
        _check(self._all)

    def check_now_and_then(self) -> None:
        """The same for readers, which are frequent: checks once every 50 ms."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_EVERY:
            _check(self._main)
            self._looked_at = now


def _check(known: dict[str, Identity]) -> None:
    for file, identity in known.items():
        try:
            found = os.stat(file)  # noqa: PTH116 - a path for every commit would cost more
        except OSError:
            raise _lost(file, identity, "deleted or moved") from None
        if (found.st_dev, found.st_ino) != identity:
            raise _lost(file, identity, "replaced by another file")


def _identity(file: str) -> Identity:
    try:
        found = Path(file).stat()
    except OSError as error:
        raise StoreError(f"Cannot open {file}: {error.strerror}.", path=file) from error
    return found.st_dev, found.st_ino


def _lost(file: str, identity: Identity, what: str) -> StoreError:
    return StoreError(
        f"{file} was {what} while it was open; nothing was written. "
        f"{next(_whereabouts(identity), '')}Put it back to continue. Otherwise stop "
        "every Callboard process that uses it, restore a backup if you need one, and start again.",
        path=file,
    )


def _whereabouts(identity: Identity) -> Iterator[str]:
    """Where the old file is now, as far as the system shows it."""
    for one in open_files():
        if (one.stat.st_dev, one.stat.st_ino) != identity:
            continue
        if one.target.endswith(_DELETED):
            own = f"Until process {os.getpid()} ends, its contents can be copied from "
            yield f"{own}{one.copied_from}. "
        else:
            yield f"It is now {one.target}. "
