"""Moves payloads from the spool to the plates: in order, each only once, none lost."""

import asyncio
import logging
import os
from collections import deque
from dataclasses import asdict, replace
from itertools import count
from typing import Final

from callboard.board.hook_backlog import NO_BACKLOG, backlog_in
from callboard.board.intake import Listener
from callboard.board.late_hook import LateHook
from callboard.board.spool.files import Spool, Spooled, host_part
from callboard.clock import Clock
from callboard.courier.delivery import mark_time
from callboard.disk import files
from callboard.errors import StoreError
from callboard.events.json_values import Object
from callboard.ids import short_id

_log = logging.getLogger(__name__)

MOST: Final = 10_000
MOST_BYTES: Final = 64 * 1024 * 1024
_AT_ONCE = 100
"""How many to record in one commit, which blocks the event loop for about 20 ms."""
_MOMENT = 0.5


class UnwrittenHooks:
    """Payloads in the order of their arrival, up to a limit. What doesn't fit is counted."""

    def __init__(self) -> None:
        self.kept: deque[LateHook] = deque()
        self.lost = 0
        self._size = 0

    def keep(self, one: LateHook) -> None:
        """Keep one more, or count it as lost."""
        if len(self.kept) >= MOST or self._size + len(one.body) > MOST_BYTES:
            self.lost += 1
            _log.error(
                "A hook of %s is lost: the disk is full, and so is the memory for hooks. Free "
                "some space. Lost since this server started: %d",
                one.agent,
                self.lost,
            )
            return
        if not self.kept:
            _log.error("Hooks are kept in memory until they can be written. Free some disk space.")
        self.kept.append(one)
        self._size += len(one.body)

    def forget_first(self) -> None:
        """The oldest one has been recorded."""
        self._size -= len(self.kept.popleft().body)


class SpoolDrain:
    """Reads the spool: one task at a time in this process; processes take turns."""

    def __init__(self, spool: Spool, listener: Listener, clock: Clock) -> None:
        self._spool = spool
        self._listener = listener
        self._clock = clock
        self._memory = UnwrittenHooks()
        self._numbers = count()
        self._draining: asyncio.Task[None] | None = None
        self._since = 0.0
        self.backlog = NO_BACKLOG
        """What was left to read at the last check."""

    async def catch_up(self, within: float) -> bool:
        """Record what is in the spool; returns whether that is done. If not, it continues.

        Raises only StoreError.
        within: how many seconds to wait. They count from when the reading started, so that of many
        callers that wait for the same backlog, only the first ones wait.
        """
        if self._draining is None:
            # The spool is nearly always empty, and checking that needs neither a task nor a thread.
            if not self._memory.kept and not self._spool.has_some:
                return True
            self._since = self._clock.monotonic()
            self._draining = asyncio.create_task(self._drain())
            self._draining.add_done_callback(self._ended)
        draining = self._draining
        left = within - (self._clock.monotonic() - self._since)
        await asyncio.wait({draining}, timeout=max(0.0, left))
        if not draining.done() or draining.cancelled():
            return False
        draining.result()
        return True

    def _ended(self, draining: asyncio.Task[None]) -> None:
        self._draining = None
        if not draining.cancelled():
            draining.exception()  # If no one awaited it, the next attempt fails the same way.

    async def keep_up(self) -> bool:
        """Read the spool for a moment, and note what is left; returns whether that is nothing."""
        try:
            return await self.catch_up(_MOMENT)
        finally:
            # Another server may be reading it, or the store may have failed.
            is_empty = self._draining is None and not self._spool.has_some
            hooks = self._spool.hooks
            self.backlog = NO_BACKLOG if is_empty else await asyncio.to_thread(backlog_in, hooks)

    async def _drain(self) -> None:
        await self._hear_kept()
        while self._spool.has_some and (taken := await self._take()):
            await self._hear(deque(taken))

    async def _hear_kept(self) -> None:
        """Record what could not be written anywhere, oldest first, until one fails again."""
        while self._memory.kept:
            one = self._memory.kept[0]
            try:
                await self._listener.overhear([replace(one, again=True)])
            except StoreError:
                raise
            except Exception:
                _log.exception("A hook of %s could not be processed and was lost", one.agent)
                self._memory.lost += 1
            self._memory.forget_first()

    async def _take(self) -> list[Spooled]:
        """Take files in a thread: there may be a lot to read, and other tasks must not wait."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._spool.take, _AT_ONCE))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread continues anyway, and what it took would be lost.
            await asyncio.wait({taking})
            for one in [] if taking.exception() else taking.result():
                one.give_back()
            raise

    async def _hear(self, left: deque[Spooled]) -> None:
        """Record all of them together; if that fails, one by one, to find the culprit."""
        try:
            await self._listener.overhear([one.hook for one in left])
            while left:
                left.popleft().done()
        except (StoreError, asyncio.CancelledError):
            raise
        except Exception:
            while left:
                await self._hear_one(left[0])
                left.popleft()
        finally:
            for one in left:
                # They were being recorded, and it isn't known how many of them were.
                one.give_back(heard=True)

    async def _hear_one(self, one: Spooled) -> None:
        try:
            # It may have been recorded together with those before it.
            await self._listener.overhear([replace(one.hook, again=True)])
        except StoreError:
            raise
        except Exception:
            # It would fail every time, and everything after it would wait.
            _log.exception("%s in the spool could not be processed and was set aside", one.name)
            one.reject()
        else:
            one.done()

    def counted(self) -> Object:
        """What came in since this server started, for `callboard hooks status`."""
        spooled = self._spool.counted
        return asdict(self._listener.received) | {
            "rejected": spooled.rejected,
            "kept": len(self._memory.kept),
            "lost": self._memory.lost + spooled.lost,
            "backlog": self.backlog.hooks,
            "backlogAgeMs": self.backlog.age_ms(self._listener.now_ms()),
        }

    async def close(self) -> None:
        """Leave what was taken but not recorded to others."""
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.wait({self._draining})
        left = [one for one in self._memory.kept if not self._spooled(one)]
        if left:
            lost = len(left)
            _log.error("%d hooks were lost: they could neither be recorded nor spooled", lost)
        self._spool.close()

    def keep(self, agent: str, body: bytes, host: str | None = None) -> None:
        """Keep a hook that can't be recorded right now: in the spool, otherwise in memory.

        host: the host that its sender's token is limited to.
        """
        one = LateHook(agent, body, self._listener.now_ms(), host=host)
        has_room = not self._memory.kept and not self._spool.is_full
        if not has_room or not self._spooled(one):
            self._memory.keep(one)

    def _spooled(self, one: LateHook) -> bool:
        # Numbered, so that those within one tick of the file system's clock keep their order.
        number = f"{next(self._numbers):09}"
        name = f"{one.agent}.0.{os.getpid()}.{number}.{short_id()}{host_part(one.host)}.json"
        try:
            # As durable as what hooks write themselves: it survives our exit, but not a power
            # failure.
            there = self._spool.folder / name
            files.replace(there, one.body, lasting=False, ready=mark_time)
        except OSError:
            return False
        return True
