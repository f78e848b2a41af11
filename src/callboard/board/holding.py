"""Hooks that are held open: each waits for the answer to one question."""

import asyncio
from collections import Counter
from typing import Any

from callboard.engine.inbox import Inbox
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog


class Holding:
    """Who waits here for which question."""

    def __init__(self, log: EventLog, inbox: Inbox) -> None:
        self._log = log
        self._inbox = inbox
        self._held: Counter[str] = Counter()
        self._closing = asyncio.Event()

    def holds(self, interaction_id: str) -> bool:
        """Whether somebody waits here for this question."""
        return self._held[interaction_id] > 0

    @property
    def closing(self) -> bool:
        """Whether those who wait are being sent away, to come back to the next server."""
        return self._closing.is_set()

    def close(self) -> None:
        """Send everybody away; the questions stay open."""
        self._closing.set()

    async def wait(self, interaction_id: str) -> Interaction | None:
        """The question once it is closed, by whatever process; None when we close first."""
        asked = await self._inbox.get(interaction_id)
        changed = asyncio.Event()
        unsubscribe = self._log.on_change(asked.stream, lambda head: changed.set())
        closing = asyncio.ensure_future(self._closing.wait())
        self._held[interaction_id] += 1
        try:
            while not self.closing:
                changed.clear()
                asked = await self._inbox.get(interaction_id)
                if asked.status != "pending":
                    return asked
                await _first(changed, closing)
            return None
        finally:
            self._held[interaction_id] -= 1
            if not self._held[interaction_id]:
                del self._held[interaction_id]
            closing.cancel()
            unsubscribe()


async def _first(changed: asyncio.Event, closing: asyncio.Future[Any]) -> None:
    waiting = asyncio.ensure_future(changed.wait())
    try:
        await asyncio.wait({waiting, closing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
