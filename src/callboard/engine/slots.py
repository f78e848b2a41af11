"""Where a phase has a limit, its agents start only once there is a slot for them.

The log has the queue, over all processes. Here, a drive requests slots for runs that are ready to
start, and an agent gives its slot up while it waits for a person or for another session. So no
agent waits for something that needs its slot.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from callboard.log.protocol import EventLog
from callboard.log.slot_store import SlotStore


@dataclass(frozen=True, slots=True)
class SlotWait:
    """What happens to a drive that has nothing to do until there is a slot.

    With `leaves`, it ends, and the session keeps its place in the queue: someone else watches for
    sessions whose turn has come. Otherwise, it stays, and calls `idles` with True, and with False
    when that is over.
    """

    leaves: bool = False
    idles: Callable[[bool], None] = lambda idle: None


STAYING: Final = SlotWait()
LEAVING: Final = SlotWait(leaves=True)


class RunSlot:
    """The slot of one running agent."""

    def __init__(self, store: SlotStore, wanted: tuple[str, str, str], slot: str) -> None:
        self._store = store
        self._wanted = wanted
        self._slot: str | None = slot
        self._loop = asyncio.get_running_loop()
        self._taking = asyncio.Lock()
        self._waits = 0
        self._over = False

    @asynccontextmanager
    async def given_up(self) -> AsyncGenerator[None]:
        """Let others have the slot in the block, and wait for one at its end.

        An agent may wait for several things at once; it needs a slot again after the last.
        """
        if asyncio.get_running_loop() is not self._loop:
            # A plain function runs in a thread, and may have a loop of its own there.
            yield
            return
        self._waits += 1
        self._give_back()
        try:
            yield
        except Exception:
            self._waits -= 1
            await self._take_again()
            raise
        except BaseException:
            # The agent is stopped or unwound, and does nothing more.
            self._waits -= 1
            raise
        self._waits -= 1
        await self._take_again()

    def _give_back(self) -> None:
        if self._slot is not None:
            self._store.free(self._slot)
            self._slot = None

    async def _take_again(self) -> None:
        async with self._taking:
            if self._slot is not None or self._waits or self._over:
                return
            self._slot = await self._store.take(*self._wanted)
            if self._waits or self._over:
                self._give_back()

    def end(self) -> None:
        """The agent has ended."""
        self._over = True
        self._give_back()


class DriveSlots:
    """The slots that one drive has or waits for, by run.

    Each turn of the drive says which it wants: `forget`, then `ready` for every run that could
    start, then `request`.
    """

    def __init__(
        self,
        log: EventLog,
        session_id: str,
        granted: Callable[[BaseException | None], None],
        wait: SlotWait,
    ) -> None:
        """Prepare to request slots.

        Args:
            log: has the queue. It is used only if a phase has a limit.
            session_id: the session.
            granted: called when there is a slot for a run, when the session keeps its place, or
                with the error that prevents it.
            wait: what to do when nothing happens until there is a slot.
        """
        self._log = log
        self._session_id = session_id
        self._granted = granted
        self._wait = wait
        self._idle = False
        self.kept = False
        """Whether the drive ended while the session kept its place."""
        self._kept: set[str] = set()
        self._wanted: dict[str, str] = {}
        self._requests: dict[str, asyncio.Task[None]] = {}
        self._slots: dict[str, RunSlot] = {}

    def __bool__(self) -> bool:
        """Whether runs that could start wait for a slot here."""
        return not self._wanted.keys() <= self._kept

    def forget(self) -> None:
        """Start a turn in which no slot is wanted so far."""
        if self._wanted:
            self._wanted = {}

    def ready(self, limit: str, runs: Sequence[str]) -> list[str]:
        """Those of these runs that have a slot; the others want one."""
        self._wanted |= {run: limit for run in runs if run not in self._slots}
        return [run for run in runs if run in self._slots]

    def pop(self, run: str) -> RunSlot | None:
        """The slot of a run that starts now; None if it needs none."""
        return self._slots.pop(run, None)

    def request(self, *, busy: bool = False) -> None:
        """Wait for the slots that are wanted, and give back those that aren't needed anymore.

        busy: whether agents of the session run.
        """
        for run in self._requests.keys() - self._wanted.keys():
            self._requests.pop(run).cancel()
        for run in self._slots.keys() - self._wanted.keys():
            self._slots.pop(run).end()
        # It may have been granted meanwhile.
        there = {*self._requests, *self._slots}
        if busy or not self._wanted.keys() <= self._kept | there:
            # All at once, because a session that comes back gives up what it doesn't ask for.
            self._kept.clear()
        for run, limit in self._wanted.items():
            if run not in there | self._kept:
                self._requests[run] = asyncio.create_task(self._take(run, limit))
        if (idle := bool(self._wanted) and not busy) != self._idle:
            self._idle = idle
            self._wait.idles(idle)

    async def _take(self, run: str, limit: str) -> None:
        store, wanted = self._log.slots, (limit, self._session_id, run)
        try:
            slot = await self._queue(*wanted)
            if slot is None:
                self._kept.add(run)
            else:
                self._slots[run] = RunSlot(store, wanted, slot)
        except Exception as error:
            self._granted(error)
        else:
            self._granted(None)
        del self._requests[run]

    async def _queue(self, limit: str, session_id: str, run: str) -> str | None:
        if self._wait.leaves:
            return await self._log.slots.queue(limit, session_id, run, lambda: self._idle)
        return await self._log.slots.take(limit, session_id, run)

    def close(self) -> None:
        """Give everything back, except for places that the session keeps."""
        self.kept = bool(self._wanted) and not self
        self.forget()
        self.request()
