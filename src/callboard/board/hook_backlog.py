"""How much in a spool has not been read yet, and since when."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.board.hook_folders import spool_folder
from callboard.events.shapes import Millis, Shape


@dataclass(frozen=True, slots=True)
class HookBacklog(Shape):
    """Hooks that have not been read yet. oldest_at: when the first of them was left there."""

    hooks: int
    oldest_at: Millis | None

    def age_ms(self, now_ms: int) -> int:
        """How long the oldest one has been waiting; 0 if there are none."""
        return 0 if self.oldest_at is None else max(0, now_ms - self.oldest_at)


NO_BACKLOG: Final = HookBacklog(0, None)


def backlog_in(hooks: Path) -> HookBacklog:
    """What is in the spool of a hooks folder, including what a server has already taken."""
    spool, times = spool_folder(hooks), list[int]()
    _collect(spool, times)
    with suppress(OSError):
        for claimer in (spool / "claimed").iterdir():
            _collect(claimer, times)
    return HookBacklog(len(times), min(times) // 1_000_000) if times else NO_BACKLOG


def _collect(folder: Path, times: list[int]) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.name.endswith(".json"):
                    times.append(entry.stat(follow_symlinks=False).st_mtime_ns)
