"""Files that one process has claimed, so that no other reads them.

Each claimer has a folder, and beside it a lock that the kernel frees when the claimer dies. What is
in the folder of a dead one belongs to the first that finds it. They take turns, so that what is
older is done with before anybody takes what is newer.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from callboard.disk.locks import hold, try_lock
from callboard.ids import short_id


@dataclass(slots=True)
class Room:
    """How much may still be taken at once: so many files, so many bytes, a little more at most."""

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
        """Have it, if no one else does."""
        if self._lock is not None:
            return True
        # The folder itself: a file could be left behind, or be removed while it is locked.
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
        lock: int | None = os.open(self._folder, flags)
        try:
            if try_lock(lock):
                self._lock, lock = lock, None
        finally:
            if lock is not None:
                os.close(lock)
        return self._lock is not None

    def give(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class Claims:
    """Our folder, among those of the others."""

    def __init__(self, folder: Path) -> None:
        own_folder(folder)
        self._folder = folder
        self._own = folder / f"{os.getpid()}-{short_id(8)}"
        self._lock = hold(_lock_of(self._own))
        self._own.mkdir(mode=0o700)
        self._numbers = count(1)

    @property
    def is_there(self) -> bool:
        """Whether no one has removed the folder under us."""
        return self._own.is_dir()

    def claim(self, path: Path, name: str) -> Path | None:
        """Take a file; gives where it is now, or None when another was quicker.

        name: what it shall be known by, to the process that takes it over from us.
        """
        # A number of its own: a rename would else put it in the place of another.
        here = self._own / f"{next(self._numbers)}.{name}"
        try:
            path.rename(here)
        except FileNotFoundError:
            return None
        return here

    def take_over(self, room: Room) -> list[tuple[Path, str]]:
        """Take what the dead had claimed: where it is now, and its name."""
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
        """Leave; what is still claimed is there for others."""
        os.close(self._lock)
        with suppress(OSError):
            self._own.rmdir()
            _lock_of(self._own).unlink(missing_ok=True)


def own_folder(path: Path) -> None:
    """Make a folder with mode 0700; anything else that has its name is moved out of the way."""
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
    """Hold another's lock; gives whether that could be done, because no one else does."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield try_lock(lock)
    finally:
        os.close(lock)


def _forget(other: Path) -> None:
    # The lock goes last: without it no one would look for what is left.
    with suppress(OSError):
        if other.is_dir():
            other.rmdir()
        _lock_of(other).unlink(missing_ok=True)
