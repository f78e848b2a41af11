"""Letters to something that runs in a client's process: a plugin, or a hook.

Each is a file in a folder of that process, and the end of its name says what became of it. It is
renamed before it is read, so it is taken once; until then, it can be taken back.
"""

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.courier.mail import WAITS
from callboard.disk.files import replace
from callboard.disk.private import make_own_folder
from callboard.systems.processes import is_alive

STAGES: Final = ("json", "taken", "refused", "given", "delivered", "seen")
"""How far a letter can come. Looked for in this order, one that moves on meanwhile is found."""

_KEPT: Final = 7 * 86_400
"""Seconds for which the letters of a process that has ended are kept: they are evidence."""


class Letterbox:
    """The letters to one process. hooks: the hooks folder."""

    def __init__(self, hooks: Path, agent: str, pid: int | None) -> None:
        self.folder = hooks / "mailbox" / f"{agent}.{pid}"

    def open(self) -> None:
        """Create it, and remove old ones of processes that have ended; OSError if that fails."""
        make_own_folder(self.folder)
        os.utime(self.folder)
        since = self.folder.stat().st_mtime - _KEPT
        for other in self.folder.parent.iterdir():
            pid = other.name.rpartition(".")[2]
            if pid.isdigit() and not is_alive(int(pid), None) and _is_older(other, since):
                shutil.rmtree(other, ignore_errors=True)

    def put(self, name: str, content: bytes) -> None:
        """Leave a letter, and forget what became of the last one with this name."""
        for stage in STAGES:
            (self.folder / f"{name}.{stage}").unlink(missing_ok=True)
        replace(self.folder / f"{name}.json", content, lasting=False)

    def mark(self) -> None:
        """Let hooks look for letters that were left before."""
        replace(self.folder / WAITS, b"", lasting=False)

    def take_back(self, name: str) -> bool:
        """Take back a letter that was not taken; returns whether that worked."""
        try:
            (self.folder / f"{name}.json").unlink()
        except OSError:
            return False
        return True

    def stage(self, name: str) -> str | None:
        """How far a letter has come; None if there is none."""
        return next((one for one in STAGES if (self.folder / f"{name}.{one}").exists()), None)

    def since(self, name: str, stage: str) -> int | None:
        """Since when it is there, in milliseconds."""
        with suppress(OSError):
            return (self.folder / f"{name}.{stage}").stat().st_ctime_ns // 1_000_000
        return None


def _is_older(folder: Path, since: float) -> bool:
    """Whether no letter was left in it, or moved on, since then."""
    with suppress(OSError):  # Another process removes them as well.
        return folder.stat().st_mtime < since
    return False


def letter_name(message_id: str) -> str:
    """The name of a letter with a message."""
    return f"message-{digest(message_id)[:24]}"


def digest(id: str) -> str:
    """An id of a fixed length for any id."""
    return hashlib.sha256(id.encode()).hexdigest()
