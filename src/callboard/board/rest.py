"""The rest between two looks at the board: it ends as soon as there may be something to see."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from callboard.board.hook_folders import spool_folder
from callboard.clock import Clock
from callboard.log.protocol import EventLog
from callboard.systems.folder_watch import FolderWatch
from callboard.waiting import wait_any


class Rest:
    """Ends with a commit, by whichever process, and with a hook that left a file in the spool.

    folder: of the hooks.
    """

    def __init__(self, log: EventLog, folder: Path, clock: Clock) -> None:
        self._log = log
        self._spool = spool_folder(folder)
        self._clock = clock
        self._news = asyncio.Event()
        self._watch: FolderWatch | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Listen, in the running event loop."""
        self._unsubscribe = self._log.on_change(None, lambda head: self._news.set())
        self._watch = FolderWatch(self._spool, self._news.set)

    def stop(self) -> None:
        """Stop listening."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def prepare(self) -> bool:
        """Call this before looking: what comes later ends the next rest. False: do not rest."""
        self._news.clear()
        return self._watch is not None and self._watch.renew()

    async def take(self, seconds: float) -> None:
        """Rest, for so many seconds at most."""
        if not self._news.is_set():
            await wait_any(self._clock.sleep(seconds), self._news.wait())
