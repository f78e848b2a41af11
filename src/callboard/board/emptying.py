"""The spool is emptied into the plates: in order, each payload once, none lost."""

import asyncio
import logging
import os
from collections import deque
from dataclasses import asdict
from typing import Any

from callboard.board.listening import Listener
from callboard.board.memory import Kept, Memory
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
        self._memory = Memory()

    async def empty(self) -> None:
        """Hear everything that lies there; raises nothing but StoreError."""
        async with self._lock:
            await self._hear_kept()
            # Nearly always nothing lies there, and to see that needs no thread.
            while self._spool.has_some and (taken := await self._take()):
                await self._hear(deque(taken))

    async def _hear_kept(self) -> None:
        """Hear what could be written nowhere; the oldest first, until one fails again."""
        while self._memory.kept:
            one = self._memory.kept[0]
            try:
                await self._listener.overhear(one.agent, one.body, one.at_ms, None, again=True)
            except StoreError:
                raise
            except Exception:
                _log.exception("A hook of %s could not be heard, and is lost", one.agent)
                self._memory.lost += 1
            self._memory.forget_first()

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
        spooled = self._spool.counted
        return asdict(self._listener.received) | {
            "rejected": spooled.rejected,
            "kept": len(self._memory.kept),
            "lost": self._memory.lost + spooled.lost,
        }

    def close(self) -> None:
        """Leave what was taken and not heard to others."""
        left = [one for one in self._memory.kept if not self._spooled(one.agent, one.body)]
        if left:
            lost = len(left)
            _log.error("%d hooks were lost: they could neither be recorded nor spooled", lost)
        self._spool.close()

    def keep(self, agent: str, body: bytes) -> None:
        """Keep something that could not be recorded just now: in the spool, else in memory."""
        if self._memory.kept or not self._spooled(agent, body):
            self._memory.keep(Kept(agent, body, self._listener.now_ms()))

    def _spooled(self, agent: str, body: bytes) -> bool:
        name = f"{agent}.0.{os.getpid()}.{short_id()}.json"
        try:
            replace(self._spool.folder / name, body)
        except OSError:
            return False
        return True
