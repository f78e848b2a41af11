"""Hooks that are held open: each waits for the answer to one question."""

import asyncio
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from callboard.board.grips import Grips
from callboard.engine.inbox import Inbox
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog


class Holding:
    """Who waits here for which question."""

    def __init__(self, log: EventLog, inbox: Inbox, grips: Grips | None = None) -> None:
        self._log = log
        self._inbox = inbox
        self._grips = grips
        self._held: Counter[str] = Counter()
        self._closing = asyncio.Event()

    def holds(self, interaction_id: str) -> bool:
        """Whether somebody waits for this question, here or in another server."""
        if self._held[interaction_id] > 0:
            return True
        return self._grips is not None and self._grips.is_held(interaction_id)

    @property
    def closing(self) -> bool:
        """Whether those who wait are being sent away, to come back to the next server."""
        return self._closing.is_set()

    def close(self) -> None:
        """Send everybody away; the questions stay open."""
        self._closing.set()

    def _grip(self, interaction_id: str) -> AbstractContextManager[None]:
        return nullcontext() if self._grips is None else self._grips.hold(interaction_id)

    async def wait(self, interaction_id: str) -> Interaction | None:
        """The question once it is answered or closed; None when this server stops first."""
        asked = await self._inbox.get(interaction_id)
        changed = asyncio.Event()
        unsubscribe = self._log.on_change(asked.stream, lambda head: changed.set())
        closing = asyncio.ensure_future(self._closing.wait())
        self._held[interaction_id] += 1
        try:
            with self._grip(interaction_id):
                while not self.closing:
                    changed.clear()
                    asked = await self._inbox.get(interaction_id)
                    if asked.status != "pending" or asked.accepted is not None:
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
