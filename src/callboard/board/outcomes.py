"""Finds out what became of requests whose dialog is gone, and records it."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from callboard.board.calls import requests
from callboard.board.evidence import Look, details_of, is_running, of_unsettled
from callboard.board.plate import Plate, Unsettled
from callboard.board.plates import Plates
from callboard.board.registries import Registries
from callboard.clock import Clock
from callboard.errors import PlateNotFound
from callboard.events import plates as events
from callboard.events.event_name import Entry

_log = logging.getLogger(__name__)

WATCH_EVERY: Final = 0.01
WATCH_SECS: Final = 1.0
"""How many seconds the client's registry is read at this rate after it was handed an answer.

Esc may end a call moments after it was allowed, and nothing else shows that it was.
"""
FRESH_MS: Final = 3000
"""How long after a dialog closed its outcome is checked often, because a person waits for it."""


class Settling:
    """Watches plates with unsettled requests, including closed plates."""

    def __init__(self, plates: Plates, registries: Registries, clock: Clock) -> None:
        self._plates = plates
        self._registries = registries
        self._clock = clock
        self._worked_on: set[str] = set()
        self.waiting = False
        """Whether there were any at the last look."""

    async def look(self, living: Sequence[Plate]) -> bool:
        """Settle what can be settled; returns whether to look again right away."""
        waiting = await self._plates.awaiting_outcome()
        self.waiting = bool(waiting)
        self._note_work([*living, *waiting])
        for plate in waiting:
            for one in plate.unsettled:
                await self._settle(plate, one)
        return any(self._is_fresh(one) for plate in waiting for one in plate.unsettled)

    async def watch(self, plate: Plate, interaction_id: str) -> None:
        """Look closely at a client that was just handed an answer."""
        until = self._clock.monotonic() + WATCH_SECS
        while self._clock.monotonic() < until and interaction_id not in self._worked_on:
            self._note_work_of(plate)
            await self._clock.sleep(WATCH_EVERY)

    def at(self, plate: Plate) -> Look:
        """A plate at this moment, as its client describes itself."""
        known = self._registries.of(plate)
        return Look(plate, known, self._clock.now_ms(), frozenset(self._worked_on))

    def _note_work(self, candidates: Sequence[Plate]) -> None:
        """Note which clients work after a dialog: Esc then interrupts the call, not the dialog."""
        open_ids: set[str] = set()
        for plate in candidates:
            open_ids |= {one.id for one in requests(plate) if one.id is not None}
            self._note_work_of(plate)
        self._worked_on &= open_ids

    def _note_work_of(self, plate: Plate) -> None:
        asked = [one for one in requests(plate) if one.id is not None]
        look = self.at(plate) if asked else None
        for one in asked:
            if look is not None and one.id is not None and is_running(look, one):
                self._worked_on.add(one.id)

    async def _settle(self, plate: Plate, one: Unsettled) -> None:
        def build(now: Plate) -> Entry | None:
            still = next((other for other in now.unsettled if other.id == one.id), None)
            shown = None if still is None else of_unsettled(self.at(now), still)
            if shown is None:
                return None
            return events.PERMISSION_SETTLED({"request": one.id, **details_of(shown)})

        await tell_if(self._plates, plate, build)

    def _is_fresh(self, one: Unsettled) -> bool:
        return one.seen is None and self._clock.now_ms() - one.closed_at < FRESH_MS


async def tell_if(plates: Plates, plate: Plate, build: Callable[[Plate], Entry | None]) -> None:
    """Record what `build` finds out about a plate, if anything."""
    if build(plate) is None:
        return
    try:
        await plates.tell(plate.plate_id, build)
    except PlateNotFound:
        _log.debug("Plate %s has been pruned", plate.plate_id)
