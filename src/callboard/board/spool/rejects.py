"""What lay in the spool and is not a payload: put aside, for someone to look at, within bounds."""

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
    """The folder beside the spool's files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stuck: set[str] = set()

    def take(self, path: Path) -> bool:
        """Put something aside; gives whether it is out of the way.

        What cannot be moved is left where it is, and is not tried again.
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
        """Remove the oldest until the rest is within bounds. Folders stay: they are someone's."""
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
    """Whether it is the start of a file that was never written: it says nothing."""
    told = path.lstat()
    return stat.S_ISREG(told.st_mode) and told.st_size == 0
