"""Hooks that are held open, in any process, and the question that each one waits for."""

import asyncio
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from typing import Final

from callboard.board.plates import Plates
from callboard.clock import Clock
from callboard.engine.inbox import Inbox
from callboard.errors import StoreError
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog
from callboard.waiting import wait_any

COMES_BACK_WITHIN: Final = 0.5
"""In seconds. A client that lost its connection returns sooner; after Esc, it never returns."""

_KIND: Final = "held"
_TRY_AGAIN: Final = 1.0


class HeldHooks:
    """Which questions have a hook waiting for them, here or on another server.

    The log's shared state shows other servers what waits here.
    """

    def __init__(self, log: EventLog, inbox: Inbox) -> None:
        self._log = log
        self._inbox = inbox
        self._held: Counter[str] = Counter()
        self._closing = asyncio.Event()
        self._releasing: set[asyncio.Task[None]] = set()

    async def held(self, interaction_ids: Collection[str]) -> set[str]:
        """Those of the questions that a hook waits for, here or on another server."""
        here = {id for id in interaction_ids if self._held[id] > 0}
        others = [id for id in interaction_ids if id not in here]
        if not others:
            return here
        return here | await self._log.server_state.held_elsewhere(_KIND, others)

    async def _show(self, interaction_id: str) -> None:
        """Show other servers that a hook waits here for this question."""
        # On a full disk, hooks can still wait; only other servers don't see it.
        with suppress(StoreError):
            await self._log.server_state.hold(_KIND, interaction_id)

    def _left(self, interaction_id: str) -> None:
        """Count one hook less; after the last one, other servers may give up the question."""
        self._held[interaction_id] -= 1
        if self._held[interaction_id]:
            return
        del self._held[interaction_id]
        # Not awaited: the hook gets its answer first.
        task = asyncio.create_task(self._release(interaction_id))
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def _release(self, interaction_id: str) -> None:
        while True:
            try:
                await self._log.server_state.release(_KIND, interaction_id)
            except StoreError:
                if self.closing:  # When this process ends, it holds nothing anymore.
                    return
                await asyncio.sleep(_TRY_AGAIN)
            else:
                break
        if self._held[interaction_id]:  # Another hook came for it meanwhile.
            await self._show(interaction_id)

    @property
    def waiting(self) -> int:
        """The number of hooks that wait here."""
        return self._held.total()

    @property
    def closing(self) -> bool:
        """Whether waiting hooks are being sent away, to come back to the next server."""
        return self._closing.is_set()

    def close(self) -> None:
        """Send all waiting hooks away; the questions stay open."""
        self._closing.set()

    async def wait(self, interaction_id: str) -> Interaction | None:
        """The question once it is answered or closed; None if this server stops first."""
        asked = await self._inbox.get(interaction_id)
        changed = asyncio.Event()
        unsubscribe = self._log.on_change(asked.stream, lambda head: changed.set())
        self._held[interaction_id] += 1
        try:
            await self._show(interaction_id)
            while not self.closing:
                changed.clear()
                asked = await self._inbox.get(interaction_id)
                if asked.status != "pending" or asked.accepted is not None:
                    return asked
                await wait_any(changed.wait(), self._closing.wait())
            return None
        finally:
            self._left(interaction_id)
            unsubscribe()


class Leavings:
    """Releases a question shortly after its hook has left."""

    def __init__(self, plates: Plates, holding: HeldHooks, clock: Clock) -> None:
        self._plates = plates
        self._holding = holding
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, interaction_id: str) -> None:
        """The hook that waited for this question is gone."""
        if self._holding.closing:
            return
        task = asyncio.create_task(self._see(interaction_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Stop releasing: the hook may come back to the next server."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _see(self, interaction_id: str) -> None:
        await self._clock.sleep(COMES_BACK_WITHIN)
        # If the log is away, the watchdog releases it later.
        with suppress(StoreError):
            is_held = bool(await self._holding.held({interaction_id}))
            if not is_held and not self._holding.closing:
                await self._plates.let_go(interaction_id)
