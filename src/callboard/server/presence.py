"""Signs beside a database that servers drive its sessions, for commands that would.

A sign is a file that its server holds; in it stand the workflows that the server knows.
"""

import json
import os
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from callboard.ids import short_id
from callboard.log.living import hold, is_held
from callboard.log.sqlite_setup import live_folder


@contextmanager
def present(database: Path, workflows: Collection[str]) -> Generator[None]:
    """Show that a server is here, for as long as it is."""
    sign = live_folder(database.resolve()) / f"{os.getpid()}-{short_id(8)}.server"
    lock = hold(sign, json.dumps(sorted(workflows)).encode())
    try:
        yield
    finally:
        sign.unlink(missing_ok=True)
        os.close(lock)


def is_served(database: Path) -> bool:
    """Whether a server that lives is at this database."""
    return next(_living(database), None) is not None


def is_driven(database: Path, workflow: str) -> bool:
    """Whether a server that lives drives the sessions of this workflow."""
    return any(workflow in known for known in _living(database))


def _living(database: Path) -> Iterator[list[str]]:
    """What each server that is here knows; what a killed one left is swept away."""
    for sign in live_folder(database.resolve()).glob("*.server"):
        with suppress(FileNotFoundError):  # It leaves at this moment.
            if is_held(sign):
                yield json.loads(sign.read_bytes())
            else:
                sign.unlink()
