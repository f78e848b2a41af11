"""Records reports together: those on one plate in one append, and all of them in one commit.

Most reports only change their plate. Such a report is folded in memory into the plate as the
previous ones left it. A report about a dialog, or about a plate that is not known yet, is recorded
on its own, after all the previous ones.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from callboard.board.identity import goes_on, located
from callboard.board.plate import Plate
from callboard.board.plate_store import CachedPlate
from callboard.board.plates import Plates
from callboard.board.repeats import asks
from callboard.errors import PositionConflict
from callboard.events.envelope import NewEvent
from callboard.vendors.reports import Report

_TURN = 20
"""After this many reports, let other tasks run."""


@dataclass(slots=True)
class _Draft:
    """A plate as it will be, and the events that lead there."""

    known: CachedPlate
    plate: Plate
    events: list[NewEvent] = field(default_factory=list[NewEvent])
    reports: list[Report] = field(default_factory=list[Report])


class ReportBatch:
    """Reports in the order in which they are recorded."""

    def __init__(self, plates: Plates) -> None:
        self._plates = plates
        self._store = plates.store
        self._drafts: dict[str, _Draft] = {}

    async def hear(self, reports: Sequence[Report]) -> None:
        """Record them all."""
        for number, report in enumerate(reports, start=1):
            if not await self._fold(located(report, self._plates.host())):
                await self._write()
                await self._plates.hear(report)
            if number % _TURN == 0:
                await asyncio.sleep(0)
        await self._write()

    async def _fold(self, report: Report) -> bool:
        """Fold a report into its plate; returns whether that could be done in memory."""
        if report.hold is not None or asks(report):
            return False
        plate_id = self._plates.usual_id(report)
        if plate_id is None:
            return False
        draft = self._drafts.get(plate_id)
        if draft is None:
            known = await self._plates.usual(report)
            if known is None:
                return False
            draft = _Draft(known, known.plate)
        if draft.plate.has(report):
            return True
        if not goes_on(draft.plate, report) or draft.plate.pending or draft.plate.unsettled:
            return False
        draft.plate, events = self._store.fold(draft.plate, report)
        draft.events += events
        draft.reports.append(report)
        self._drafts[plate_id] = draft
        return True

    async def _write(self) -> None:
        """Append the events for all reports so far."""
        drafts, self._drafts = self._drafts, {}
        writing = [self._append(draft) for draft in drafts.values()]
        # Wait for all of them: what is given back must not be written at the same time.
        ended = await asyncio.gather(*writing, return_exceptions=True)
        for error in ended:
            if error is not None:
                raise error

    async def _append(self, draft: _Draft) -> None:
        try:
            await self._store.append(draft.known, draft.events, draft.plate)
        except PositionConflict:  # Something else happened to the plate in the meantime.
            for report in draft.reports:
                await self._plates.hear(report)
