"""Learn from the system that a folder changes, instead of looking at it again and again."""

import asyncio
import ctypes
import functools
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

# From sys/inotify.h: a file was written and closed, one was renamed into the folder, the folder
# itself was removed or renamed.
_CLOSE_WRITE: Final = 0x8
_MOVED_TO: Final = 0x80
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_EVENTS: Final = _CLOSE_WRITE | _MOVED_TO | _DELETE_SELF | _MOVE_SELF
_AT_ONCE: Final = 65_536


class FolderWatch:
    """Calls `changed` in the running event loop when a file is put into a folder.

    Linux reports that through inotify(7): three calls of the C library and a descriptor that the
    event loop reads, where the usual packages would start a thread. Where a system reports
    nothing, `renew` returns False, and the caller has to look often. The caller has to look now and
    then in any case: changes that another machine makes in a shared folder are not reported.
    """

    def __init__(self, folder: Path, changed: Callable[[], None]) -> None:
        self._folder = os.fsencode(folder)
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._events = _opened()
        if self._events is not None:
            self._loop.add_reader(self._events, self._read, self._events)

    def renew(self) -> bool:
        """Watch the folder that has this name now; returns whether it is watched."""
        system = _libc()
        if self._events is None or system is None:
            return False
        # For a folder that is watched already, this changes nothing.
        watched: int = system.inotify_add_watch(self._events, self._folder, _EVENTS)
        return watched >= 0

    def _read(self, events: int) -> None:
        with suppress(BlockingIOError):
            while len(os.read(events, _AT_ONCE)) > _AT_ONCE // 2:
                pass
        self._changed()

    def close(self) -> None:
        """Stop watching."""
        if self._events is not None:
            self._loop.remove_reader(self._events)
            os.close(self._events)
            self._events = None


@functools.cache
def _libc() -> ctypes.CDLL | None:
    try:
        system = ctypes.CDLL(None)
    except TypeError:  # Windows has no such library.
        return None
    return system if hasattr(system, "inotify_add_watch") else None


def _opened() -> int | None:
    """A source of events; None if the system has none, or no more for this user."""
    system = _libc()
    if system is None:
        return None
    events: int = system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    return events if events >= 0 else None
