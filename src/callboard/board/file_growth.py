"""Wait until files change: one look at all of them, however many wait."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EVERY: Final = 0.1
"""Seconds between two looks."""

FileState = tuple[tuple[int, int, int] | None, ...]
"""What shows that files have changed: their inodes, sizes and times."""


def state_of(files: Sequence[str]) -> FileState:
    """The state of files; None for one that isn't there."""
    return tuple(_state(file) for file in files)


def _state(file: str) -> tuple[int, int, int] | None:
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    files: Sequence[str]
    since: FileState
    changed: asyncio.Future[None]


class FileGrowth:
    """Looks at files while someone waits for them.

    The system could report changes instead. But some clients keep their files open, or write them
    through SQLite, and each of these reports every write: a look is cheaper than that.
    """

    def __init__(self, every: float = EVERY) -> None:
        self._every = every
        self._waiters: set[_Waiter] = set()
        self._looking: asyncio.Task[None] | None = None

    async def wait(self, files: Sequence[str], since: FileState, timeout: float) -> bool:
        """Wait until a file's state is another one; False if it stays the same for so long."""
        changed = asyncio.get_running_loop().create_future()
        waiter = _Waiter(tuple(files), since, changed)
        self._waiters.add(waiter)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            async with asyncio.timeout(max(timeout, 0.0)):
                await waiter.changed
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(waiter)
        return True

    async def _look(self) -> None:
        while self._waiters:
            waiters = [*self._waiters]
            states = await asyncio.to_thread(_states, waiters)
            for waiter, state in zip(waiters, states, strict=True):
                if state != waiter.since and not waiter.changed.done():
                    waiter.changed.set_result(None)
            await asyncio.sleep(self._every)


def _states(waiters: Sequence[_Waiter]) -> list[FileState]:
    # A file system may be slow, so this runs in a thread; each file is looked at once.
    known = {file: _state(file) for file in {one for each in waiters for one in each.files}}
    return [tuple(known[file] for file in waiter.files) for waiter in waiters]
