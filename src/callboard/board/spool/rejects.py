"""Files in the spool that aren't payloads: set aside for someone to look at, up to a limit."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.board.spool.claims import own_folder
from callboard.ids import short_id

MOST: Final = 100
MOST_BYTES: Final = 64 * 1024 * 1024


class Rejects:
    """The folder for them, inside the spool."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stuck: set[str] = set()

    def take(self, path: Path) -> bool:
        """Set something aside; returns whether it is out of the way.

        What can't be moved stays where it is, and is not tried again.
        """
        if path.name in self._stuck:
            return False
        try:
            if _is_empty_file(path):
                path.unlink()
                return True
            own_folder(self._folder)
            path.rename(self._folder / f"{path.name[:200]}.{short_id(6)}")
        except FileNotFoundError:
            return False
        except OSError:
            self._stuck.add(path.name)
            return False
        self._make_room()
        return True

    def _make_room(self) -> None:
        """Remove the oldest files until the rest is within bounds. Folders stay: not ours."""
        with os.scandir(self._folder) as entries:
            told = [(entry, entry.stat(follow_symlinks=False)) for entry in entries]
        files = [one for one in told if not stat.S_ISDIR(one[1].st_mode)]
        files.sort(key=lambda one: one[1].st_ctime_ns)
        size = sum(one.st_size for _, one in files)
        for number, (entry, one) in enumerate(files):
            if len(files) - number <= MOST and size <= MOST_BYTES:
                return
            with suppress(OSError):
                Path(entry.path).unlink()
            size -= one.st_size


def _is_empty_file(path: Path) -> bool:
    """Whether this is a file that was created but never written: it contains nothing."""
    told = path.lstat()
    return stat.S_ISREG(told.st_mode) and told.st_size == 0
