"""Showing, every two seconds, that the event loop of this process still turns."""

import asyncio

from callboard.log.owners import Owners


class Heartbeat:
    """One timer per open handle, begun with its first lease: no database is written."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Beat in the running loop, unless it does already."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._beat(loop)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._owners.beat()
        self._timer = loop.call_later(self._owners.beat_every, self._beat, loop)

    def stop(self) -> None:
        """Beat no more."""
        if self._timer is not None:
            self._timer.cancel()
