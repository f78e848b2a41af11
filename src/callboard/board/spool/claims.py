"""Files that one process has claimed, so that no other reads them.

Each process has a folder, with a lock next to it that the kernel frees when the process dies. What
a dead process leaves in its folder belongs to the first one that finds it. They take turns, so that
older files are done before anyone takes newer ones.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from callboard.disk.files import CLOEXEC, DIRECTORY, NOFOLLOW, OPENS_FOLDERS
from callboard.disk.locks import hold, try_lock
from callboard.disk.private import open_private
from callboard.ids import short_id


@dataclass(slots=True)
class Room:
    """How many more files and bytes may be taken at once; the last file may exceed that."""

    files: int
    size: int

    @property
    def is_left(self) -> bool:
        """Whether one more may be taken."""
        return self.files > 0 and self.size > 0

    def fill(self, size: int) -> None:
        """One more was taken."""
        self.files -= 1
        self.size -= size


class SpoolTurn:
    """The right to take files. One process has it at a time, and loses it when it dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: int | None = None

    def take(self) -> bool:
        """Take the turn if no one else has it."""
        if self._lock is not None:
            return True
        lock: int | None = self._open()
        try:
            if try_lock(lock):
                self._lock, lock = lock, None
        finally:
            if lock is not None:
                os.close(lock)
        return self._lock is not None

    def _open(self) -> int:
        # Lock the folder itself: a file could be left behind, or be removed while it is locked.
        if OPENS_FOLDERS:
            return os.open(self._folder, os.O_RDONLY | DIRECTORY | CLOEXEC | NOFOLLOW)
        return open_private(self._folder / ".turn")

    def give(self) -> None:
        """Let others take their turn."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class Claims:
    """Our folder, among those of other processes."""

    def __init__(self, folder: Path) -> None:
        own_folder(folder)
        self._folder = folder
        self._own = folder / f"{os.getpid()}-{short_id(8)}"
        self._lock = hold(_lock_of(self._own))
        self._own.mkdir(mode=0o700)
        self._numbers = count(1)

    @property
    def is_there(self) -> bool:
        """Whether our folder still exists."""
        return self._own.is_dir()

    def claim(self, path: Path, name: str) -> Path | None:
        """Take a file; returns where it is now, or None if another process was faster.

        name: its name for the process that may take it over from us.
        """
        # With its own number: otherwise, a rename could overwrite another file.
        here = self._own / f"{next(self._numbers)}.{name}"
        try:
            path.rename(here)
        except FileNotFoundError:
            return None
        return here

    def take_over(self, room: Room) -> list[tuple[Path, str]]:
        """Take what dead processes had claimed: where it is now, and its name."""
        taken: list[tuple[Path, str]] = []
        for lock in self._folder.glob("*.lock"):
            other = lock.with_suffix("")
            if other == self._own:
                continue
            with _locked(lock) as is_dead:
                if is_dead:
                    taken += self._from(other, room)
                    if not room.is_left:
                        break
                    _forget(other)
        return taken

    def _from(self, other: Path, room: Room) -> list[tuple[Path, str]]:
        if not other.is_dir():
            return []
        taken: list[tuple[Path, str]] = []
        for path in sorted(other.iterdir(), key=_number):
            if not room.is_left:
                break
            name = path.name.partition(".")[2]
            if (here := self.claim(path, name)) is not None:
                room.fill(here.lstat().st_size)
                taken.append((here, name))
        return taken

    def close(self) -> None:
        """Leave; what is still claimed is left to others."""
        os.close(self._lock)
        with suppress(OSError):
            self._own.rmdir()
            _lock_of(self._own).unlink(missing_ok=True)


def own_folder(path: Path) -> None:
    """Create a folder with mode 0700; anything else with that name is moved out of the way."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.rename(path.with_name(f"{path.name}-{short_id(8)}"))
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)


def _lock_of(own: Path) -> Path:
    return own.with_name(own.name + ".lock")


def _number(path: Path) -> tuple[int, str]:
    first = path.name.partition(".")[0]
    return (int(first) if first.isdecimal() else 0, path.name)


@contextmanager
def _locked(path: Path) -> Generator[bool]:
    """Try to take another process's lock; yields whether that worked because it is free."""
    try:
        lock = os.open(path, os.O_RDWR | CLOEXEC | NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield try_lock(lock)
    finally:
        os.close(lock)


def _forget(other: Path) -> None:
    # Remove the lock last: without it, no one would look for what is left.
    with suppress(OSError):
        if other.is_dir():
            other.rmdir()
        _lock_of(other).unlink(missing_ok=True)
