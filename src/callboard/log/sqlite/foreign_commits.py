"""What other processes have committed, brought to those who listen in this one."""

import asyncio
import sqlite3

from callboard.log.commit_signal import Doorbell
from callboard.log.listeners import Listeners
from callboard.log.sqlite.reader import Reader

POLL_EVERY = 0.5
"""Seconds between two looks at the database, in case a ring was not heard."""


class News:
    """Looks at the database when someone rings, and now and then without."""

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
        # What is there by now is read by anyone who has just started to listen. Drives that follow
        # each other closely need not look every time: to be told once too often does no harm.
        if self._behind:
            self._version = self._reader.data_version()
            self._seen = self._reader.last_sequence()
            self._behind = False
        # Listeners come and go with every drive, and a socket costs more than they do: once
        # open, it stays until the log closes, or until the log is used in another loop.
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._doorbell.listen(self.look)
            self._poll()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._doorbell.stop()
        self._loop = None
        self._behind = True

    def _poll(self) -> None:
        self.look()
        self._timer = asyncio.get_running_loop().call_later(POLL_EVERY, self._poll)

    def look(self) -> None:
        """Wake those whose streams have grown since the last look."""
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
            # The process that listens meets the same error when it reads, and can tell its caller.
            self.listeners.wake_all()
            return
        self.listeners.wake(dict.fromkeys(changed))
