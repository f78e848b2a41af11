"""Finds out what became of requests whose dialog is gone, and has it recorded."""

from collections.abc import Sequence
from typing import Any, Final

from callboard.board.evidence import Look, Shown, is_running, of_dialog, of_unsettled
from callboard.board.plate import Pending, Plate, Unsettled
from callboard.board.plates import Plates
from callboard.clock import Clock
from callboard.errors import PlateNotFound
from callboard.events import plates as events
from callboard.vendors.claude.registry import Registered, registered
from callboard.vendors.reports import Signal

FRESH_MS: Final = 3000
"""For so long after a dialog closed its outcome is looked for often: a person waits for it."""


class Settling:
    """Looks at plates with unsettled requests, those of closed plates included."""

    def __init__(self, plates: Plates, clock: Clock) -> None:
        self._plates = plates
        self._clock = clock
        self._worked_on: set[str] = set()

    async def look(self, living: Sequence[Plate]) -> bool:
        """Settle what can be settled; whether it is worth looking again at once."""
        waiting = await self._plates.awaiting_outcome()
        self._note_work([*living, *waiting])
        for plate in waiting:
            for one in plate.unsettled:
                await self._settle(plate, one)
        return any(self._is_fresh(one) for plate in waiting for one in plate.unsettled)

    def at(self, plate: Plate) -> Look:
        """A plate at this moment, as its client describes itself."""
        known = registered_client(plate)
        return Look(plate, known, self._clock.now_ms(), frozenset(self._worked_on))

    def _note_work(self, candidates: Sequence[Plate]) -> None:
        """Remember who works on after a dialog: Esc then interrupts the call, not the dialog."""
        open_ids: set[str] = set()
        for plate in candidates:
            asked = [one for one in (*plate.pending, *plate.unsettled) if one.id is not None]
            open_ids |= {one.id for one in asked if one.id is not None}
            look = self.at(plate) if asked else None
            for one in asked:
                if look is not None and one.id is not None and is_running(look, one):
                    self._worked_on.add(one.id)
        self._worked_on &= open_ids

    async def _settle(self, plate: Plate, one: Unsettled) -> None:
        if of_unsettled(self.at(plate), one) is None:
            return

        def build(now: Plate) -> Signal | None:
            still = next((other for other in now.unsettled if other.id == one.id), None)
            shown = None if still is None else of_unsettled(self.at(now), still)
            if shown is None:
                return None
            return Signal(events.PERMISSION_SETTLED, {"request": one.id, **details_of(shown)})

        try:
            await self._plates.tell(plate.plate_id, build)
        except PlateNotFound:
            return

    def _is_fresh(self, one: Unsettled) -> bool:
        return one.seen is None and self._clock.now_ms() - one.closed_at < FRESH_MS


def dialog_outcome(look: Look, dialog: Pending) -> dict[str, Any] | None:
    """What a signal says about a dialog whose client has gone on; None while it is not known."""
    shown = of_dialog(look, dialog)
    return None if shown is None else details_of(shown)


def details_of(shown: Shown) -> dict[str, Any]:
    """An outcome as the details of a signal."""
    outcome = shown.outcome
    told = {
        "outcome": outcome.kind,
        "via": outcome.via,
        "answers": None if outcome.answers is None else dict(outcome.answers),
        "message": outcome.message,
        "source": outcome.source,
        "final": shown.final or None,
        "toolUseId": shown.use,
    }
    return {key: value for key, value in told.items() if value is not None}


def registered_client(plate: Plate) -> Registered | None:
    """What the plate's client says of itself; None when it says nothing, or not of this session."""
    if plate.agent != "claude" or plate.pid is None:
        return None
    known = registered(plate.pid, plate.proc_start)
    return known if known is None or known.session_id == plate.session_id else None
