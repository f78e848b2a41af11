"""The spool is emptied into the plates: in order, each payload once, none lost."""

import asyncio
import logging
import os
from collections import deque
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from callboard.board.listening import Listener
from callboard.board.spool import Spool, Spooled
from callboard.disk.files import replace
from callboard.errors import StoreError
from callboard.ids import short_id

_log = logging.getLogger(__name__)

_AT_ONCE = 200


class Emptying:
    """One at a time in this process; between processes, the spool sees to it."""

    def __init__(self, spool: Spool, listener: Listener) -> None:
        self._spool = spool
        self._listener = listener
        self._lock = asyncio.Lock()

    async def empty(self) -> None:
        """Hear everything that lies there; raises nothing but StoreError."""
        async with self._lock:
            # Nearly always nothing lies there, and to see that needs no thread.
            while self._spool.has_some and (taken := await self._take()):
                await self._hear(deque(taken))

    async def _take(self) -> list[Spooled]:
        """Take in a thread: there may be much to read, and others are served meanwhile."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._spool.take, _AT_ONCE))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # A thread goes on all the same, and what it took would be nobody's.
            await asyncio.wait({taking})
            for one in [] if taking.exception() else taking.result():
                one.give_back()
            raise

    async def _hear(self, left: deque[Spooled]) -> None:
        try:
            while left:
                await self._hear_one(left[0])
                left.popleft()
        finally:
            for number, one in enumerate(left):
                # The first was being recorded, and nobody knows how far that came.
                one.give_back(heard=number == 0)

    async def _hear_one(self, one: Spooled) -> None:
        try:
            await self._listener.overhear(
                one.agent, one.payload, one.at_ms, one.pid, again=one.again
            )
        except StoreError:
            raise
        except Exception:
            # It would fail again each time, and all that came later would wait for it.
            _log.exception("%s in the spool could not be heard, and is put aside", one.name)
            one.reject()
        else:
            one.done()

    def counted(self) -> dict[str, Any]:
        """What came in since this server began, for `callboard hooks status`."""
        return asdict(self._listener.received) | {"rejected": self._spool.counted.rejected}

    def close(self) -> None:
        """Leave what was taken and not heard to others."""
        self._spool.close()

    def keep(self, agent: str, body: bytes) -> None:
        """Leave something in the spool that could not be recorded just now."""
        name = f"{agent}.0.{os.getpid()}{short_id()}.json"
        with suppress(OSError):
            replace(self._spool.folder / name, body)
