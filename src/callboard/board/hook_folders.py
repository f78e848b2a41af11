"""The folder next to the database where coding agents' hooks leave things; private to us.

It has `connection`, two lines that tell hooks where the server is and which token to report with;
`spool/`, payloads that have not been read yet, of which those ending in `.json` are complete;
`spool/.full`, which tells hooks to write nothing while it exists; and `received.json`, counters of
what came in.
"""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.disk.files import read, replace
from callboard.disk.private import make_own_folder
from callboard.errors import StoreError
from callboard.events.json_values import Object, as_object, as_text

_log = logging.getLogger(__name__)

SUFFIX: Final = ".hooks"
COUNTED_EVERY: Final = 5.0
"""In seconds: the counters are for people to look at, and each update writes a file."""


_LARGEST_RECORD: Final = 16 * 1_048_576
_MOST_RECORDS: Final = 100


def hooks_folder(database: Path) -> Path:
    """The hooks folder of a database."""
    return database.absolute().with_name(database.name + SUFFIX)


def connection_file(folder: Path) -> Path:
    """Where the server's address and the token for hooks are stored."""
    return folder / "connection"


def spool_folder(folder: Path) -> Path:
    """Where payloads wait that have not been read yet."""
    return folder / "spool"


def full_marker(folder: Path) -> Path:
    """While this file exists, hooks write nothing to the spool."""
    return spool_folder(folder) / ".full"


def counters_file(folder: Path) -> Path:
    """Counters of what came in, for `callboard hooks status`."""
    return folder / "received.json"


def installed_in(hooks: Path) -> list[str]:
    """The agents whose hooks were installed for a hooks folder, and not removed since."""
    found: list[str] = []
    with suppress(OSError):
        for file in sorted((hooks / "installed").glob("*.json"))[:_MOST_RECORDS]:
            with suppress(OSError, ValueError):
                found.append(
                    as_text(as_object(json.loads(read(file, _LARGEST_RECORD))).get("agent"))
                )
    return [one for one in found if one]


def make_folders(folder: Path) -> None:
    """Create the folder and its spool, with mode 0700.

    A link in their place is refused, and so is another user's folder.
    """
    for one in (folder, spool_folder(folder)):
        try:
            make_own_folder(one)
        except OSError as error:
            raise StoreError(
                f"Cannot create {one}: {error.strerror or error}.", path=str(one)
            ) from error


def write_connection(folder: Path, address: str, token: str) -> None:
    """Tell hooks where the server is, as `host:port`, and which token to report with."""
    make_folders(folder)
    _replace(connection_file(folder), f"{address}\n{token}\n".encode())


def read_counters(folder: Path) -> Object:
    """The counters; empty if there are none yet, or if they can't be read."""
    try:
        return as_object(json.loads(counters_file(folder).read_bytes()))
    except (OSError, ValueError):
        return {}


class Counting:
    """Writes the counters when they have changed, but not too often."""

    def __init__(self, folder: Path, counted: Callable[[], Object]) -> None:
        self._folder = folder
        self._counted = counted
        self._written: Object | None = None
        self._next = 0.0

    def write(self, now: float) -> bool:
        """Write them if it is time; returns whether they are written.

        now: in seconds of a monotonic clock.
        """
        counted = self._counted()
        if counted == self._written:
            return True
        if now < self._next:
            return False
        self._next = now + COUNTED_EVERY
        try:
            make_folders(self._folder)
            _replace(
                counters_file(self._folder), json.dumps(counted, separators=(",", ":")).encode()
            )
            self._written = counted
        except StoreError as error:
            _log.warning("%s", error.message)
        return counted == self._written


def _replace(path: Path, content: bytes) -> None:
    """Atomically replace a file, with mode 0600.

    It isn't synced to disk: after a crash of the machine, the next server writes it again.
    """
    try:
        replace(path, content, lasting=False)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}.", path=str(path)
        ) from error
