"""Forwards other processes' commits to the listeners in this one."""

import asyncio
import sqlite3

from callboard.log.commit_signal import Doorbell
from callboard.log.listeners import Listeners
from callboard.log.sqlite.reader import Reader

POLL_EVERY = 0.5
"""Seconds between polls of the database, in case a notification was missed."""


class News:
    """Checks the database on each notification, and from time to time without one."""

    def __init__(self, reader: Reader, doorbell: Doorbell) -> None:
        self.listeners = Listeners(started=self._start)
        self._reader = reader
        self._doorbell = doorbell
        self._seen = 0
        self._version = -1
        self._behind = True
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def _start(self) -> None:
        # A new listener reads what is already there itself. Drives in quick succession don't have
        # to check every time: one notification too many does no harm.
        if self._behind:
            self._version = self._reader.data_version()
            self._seen = self._reader.last_sequence()
            self._behind = False
        # Listeners come and go with every drive, and a socket costs more than they do: once open,
        # it stays until the log closes, or is used in another loop.
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._doorbell.listen(self.look)
            self._poll()

    def stop(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
        self._doorbell.stop()
        self._loop = None
        self._behind = True

    def _poll(self) -> None:
        self.look()
        self._timer = asyncio.get_running_loop().call_later(POLL_EVERY, self._poll)

    def look(self) -> None:
        """Wake listeners whose streams have grown since the last check."""
        if not self.listeners:
            self._behind = True
            return
        try:
            version = self._reader.data_version()
            if version == self._version:
                return
            changed, self._seen = self._reader.changed_after(self._seen)
            self._version = version
        except sqlite3.Error:
            # The listener runs into the same error when it reads, and can report it.
            self.listeners.wake_all()
            return
        work = [stream for stream, now in changed.items() if now.is_up_for_driving]
        self.listeners.wake(dict.fromkeys(changed), work)
