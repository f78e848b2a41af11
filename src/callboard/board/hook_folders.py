"""Where the hooks of coding agents leave things: a folder beside the database, for us alone.

What is in it: `connection`, two lines that tell hooks where the server is and with which token they
may report; `spool/`, payloads that no one has read yet, of which those that end in `.json` are
whole; `spool/.full`, while it is there hooks write nothing; `received.json`, what came in, counted.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson

from callboard.disk.files import replace
from callboard.disk.private import make_own_folder
from callboard.errors import StoreError
from callboard.events.json_values import Object, as_object

_log = logging.getLogger(__name__)

SUFFIX: Final = ".hooks"
COUNTED_EVERY: Final = 5.0
"""Seconds: the counters are for people who look, and each time is a file."""


def hooks_folder(database: Path) -> Path:
    """The folder that belongs to a database."""
    return database.absolute().with_name(database.name + SUFFIX)


def connection_file(folder: Path) -> Path:
    """Where the server is, and the token for hooks."""
    return folder / "connection"


def spool_folder(folder: Path) -> Path:
    """Payloads that no one has read yet."""
    return folder / "spool"


def full_marker(folder: Path) -> Path:
    """While this is there, hooks write nothing into the spool."""
    return spool_folder(folder) / ".full"


def counters_file(folder: Path) -> Path:
    """What has come in, counted, for `callboard hooks status`."""
    return folder / "received.json"


def make_folders(folder: Path) -> None:
    """Make the folder and its spool, with mode 0700.

    A link in their place is refused, and so is a folder of another user.
    """
    for one in (folder, spool_folder(folder)):
        try:
            make_own_folder(one)
        except OSError as error:
            raise StoreError(
                f"Cannot create {one}: {error.strerror or error}.", path=str(one)
            ) from error


def write_connection(folder: Path, address: str, token: str) -> None:
    """Tell hooks where the server is, as `host:port`, and with which token they may report."""
    make_folders(folder)
    _replace(connection_file(folder), f"{address}\n{token}\n".encode())


def read_counters(folder: Path) -> Object:
    """The counters; none when no one has counted yet, or when they cannot be read."""
    try:
        return as_object(orjson.loads(counters_file(folder).read_bytes()))
    except (OSError, ValueError):
        return {}


class Counting:
    """Writes the counters down when they have changed, and not too often."""

    def __init__(self, folder: Path, counted: Callable[[], Object]) -> None:
        self._folder = folder
        self._counted = counted
        self._written: Object | None = None
        self._next = 0.0

    def write(self, now: float) -> None:
        """Write them, if it is time; `now` is seconds that never go back."""
        counted = self._counted()
        if now < self._next or counted == self._written:
            return
        self._next = now + COUNTED_EVERY
        try:
            make_folders(self._folder)
            _replace(counters_file(self._folder), orjson.dumps(counted))
            self._written = counted
        except StoreError as error:
            _log.warning("%s", error.message)


def _replace(path: Path, content: bytes) -> None:
    """Put a file in the place of the old one, whole, with mode 0600.

    It is not forced to the disk: after a crash of the machine the next server writes it again.
    """
    try:
        replace(path, content, lasting=False)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}.", path=str(path)
        ) from error
