"""Hooks whose connection broke: gone with their dialog, unless they come back at once."""

import asyncio
from typing import Final

from callboard.board.holding import Holding
from callboard.board.plates import Plates
from callboard.clock import Clock

COMES_BACK_WITHIN: Final = 0.5
"""Seconds: a client that lost its connection returns sooner, and one that was told Esc never."""


class Leavings:
    """Lets go of a question some moments after its hook has left."""

    def __init__(self, plates: Plates, holding: Holding, clock: Clock) -> None:
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
        """Let go of nothing any more: whoever left may come back to the next server."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _see(self, interaction_id: str) -> None:
        await self._clock.sleep(COMES_BACK_WITHIN)
        if not self._holding.holds(interaction_id) and not self._holding.closing:
            await self._plates.let_go(interaction_id)
