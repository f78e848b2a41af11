"""What no hook tells is found out by looking: who died, who was interrupted, what got stuck.

Every quarter of a second the spool is emptied and the registry of the clients is read; every
second processes are looked for; every ten seconds comes the health check.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from callboard.board.counting import Counting
from callboard.board.holding import Holding
from callboard.board.plate import Pending, Plate
from callboard.board.plates import Plates
from callboard.board.processes import is_alive
from callboard.board.recovery import Checks, is_stale
from callboard.board.settling import Settling, dialog_outcome, registered_client
from callboard.board.transition import NEEDY
from callboard.clock import Clock
from callboard.errors import PlateNotFound
from callboard.events import plates as events
from callboard.vendors.claude.registry import Registered
from callboard.vendors.reports import Signal

_log = logging.getLogger(__name__)

LOOK_EVERY: Final = 0.25
LOOK_SOON: Final = 0.05
"""While somebody waits to learn what became of an answer."""
PROCESSES_EVERY: Final = 1.0
SILENT_MS: Final = 2000
"""How long a client must have been idle by its own account before we believe that we missed it."""
STARTS_WITHIN_MS: Final = 10 * 60_000
"""A client that was announced and is not heard of for so long was not started."""
UNHELD_SECS: Final = 10.0
"""A held hook comes back within seconds of a restart; one that does not is gone."""


class Rounds:
    """Looks after the plates that are not closed."""

    def __init__(
        self,
        plates: Plates,
        holding: Holding,
        clock: Clock,
        drain: Callable[[], Awaitable[None]],
        counting: Counting | None = None,
    ) -> None:
        self._plates = plates
        self._holding = holding
        self._clock = clock
        self._drain = drain
        self._counting = counting
        self._settling = Settling(plates, clock)
        self._checks = Checks(LOOK_EVERY)
        self._unheld: dict[str, float] = {}
        self._processes_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self.also: Callable[[float], Awaitable[None]] | None = None
        """What else wants to be seen to, given the seconds of a clock that never goes back."""

    async def start(self) -> None:
        """Look, from now on."""
        self._task = asyncio.create_task(self._go())

    async def stop(self) -> None:
        """Look no more."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait({self._task})
        self._task = None

    async def _go(self) -> None:
        while True:
            soon = False
            try:
                soon = await self.once()
            except Exception as error:  # A store that fails now may work again later.
                _log.error("The board could not be looked after: %s", error)
            await self._clock.sleep(LOOK_SOON if soon else LOOK_EVERY)

    async def once(self) -> bool:
        """One round; whether the next should follow at once."""
        await self._drain()
        living = await self._plates.living()
        now = self._clock.monotonic()
        if now - self._processes_at >= PROCESSES_EVERY:
            self._processes_at = now
            living = [plate for plate in living if not await self._has_died(plate)]
        await self._read_registry(living)
        soon = await self._settling.look(living)
        await self._miss(living, now)
        if self._counting is not None:
            self._counting.write(now)
        if self.also is not None:
            await self.also(now)
        if self._checks.due(self._clock.now_ms() / 1000):
            await self._check_health(living)
        return soon

    # ------------------------------------------------------------------ processes

    async def _has_died(self, plate: Plate) -> bool:
        if plate.pid is None:
            # Somebody wanted to start a client, and nothing was heard of it.
            has_died = plate.status == "starting" and self._is_long_ago(plate.created_at)
        else:
            has_died = not is_alive(plate.pid, plate.proc_start)
        if not has_died:
            return False
        await self._tell(plate, lambda now: Signal(events.PROCESS_EXIT))
        return True

    def _is_long_ago(self, at_ms: int) -> bool:
        return self._clock.now_ms() - at_ms > STARTS_WITHIN_MS

    # ------------------------------------------------------------------ the client's registry

    async def _read_registry(self, living: Iterable[Plate]) -> None:
        for plate in living:
            known = registered_client(plate)
            if known is None:
                continue
            await self._tell(plate, lambda now, known=known: self._from_registry(now, known))

    def _from_registry(self, plate: Plate, known: Registered) -> Signal | None:
        """What the client's own account tells that no hook did."""
        if known.status == "waiting":
            return None
        over = [one for one in plate.pending if one.at < known.changed_at]
        if over and known.status == "idle" and over[0].subagent is None:
            return Signal(events.TURN_IDLE, {"interrupted": True, "seenIn": "registry"})
        if over:
            return self._resolved(plate, over[0])
        silent = known.changed_at + SILENT_MS
        if (
            plate.status == "running"
            and known.status == "idle"
            and plate.status_at < known.changed_at
            and self._clock.now_ms() >= silent
        ):
            return Signal(events.TURN_IDLE, {"interrupted": True, "seenIn": "registry"})
        return None

    def _resolved(self, plate: Plate, pending: Pending) -> Signal | None:
        """A dialog that is gone while the client works on: a yes, or a no with a message."""
        shown = dialog_outcome(self._settling.at(plate), pending)
        if shown is None:
            return None
        which = {"request": pending.id} if pending.id else _call(pending)
        return Signal(events.PERMISSION_RESOLVED, {**which, **shown})

    # ------------------------------------------------------------------ hooks that are gone

    async def _miss(self, living: Sequence[Plate], now: float) -> None:
        """Let go of hooks that were held before the server began and that have not come back."""
        asked = {one.id for plate in living for one in plate.pending if one.id is not None}
        missing = {id for id in asked if not self._holding.holds(id)}
        self._unheld = {id: self._unheld.get(id, now) for id in missing}
        for id, since in list(self._unheld.items()):
            if now - since >= UNHELD_SECS and not self._holding.closing:
                await self._give_up(id, living)

    async def _give_up(self, interaction_id: str, living: Sequence[Plate]) -> None:
        """The dialog of a hook that is gone is over too, unless the client says that it waits."""
        asks = (one for one in living if any(p.id == interaction_id for p in one.pending))
        known = next((registered_client(plate) for plate in asks), None)
        if known is not None and known.status == "waiting":
            await self._plates.let_wait(interaction_id)
        else:
            await self._plates.let_go(interaction_id)

    # ------------------------------------------------------------------ the health check

    async def _check_health(self, living: Iterable[Plate]) -> None:
        for plate in living:
            if self._may_be_stuck(plate):
                await self._tell(
                    plate,
                    lambda now: (
                        Signal(events.HEALTH_CHECK_RECOVERY) if self._may_be_stuck(now) else None
                    ),
                )

    def _may_be_stuck(self, plate: Plate) -> bool:
        if plate.status not in NEEDY or plate.transcript_path is None:
            return False
        if any(one.id is not None and self._holding.holds(one.id) for one in plate.pending):
            return False
        known = registered_client(plate)
        if known is not None and known.status == "waiting":
            return False
        try:
            written = Path(plate.transcript_path).stat().st_mtime
        except (OSError, ValueError):
            return False
        return is_stale(written, plate.status_at / 1000)

    async def _tell(self, plate: Plate, build: Callable[[Plate], Signal | None]) -> None:
        if build(plate) is None:
            return
        try:
            await self._plates.tell(plate.plate_id, lambda now: build(now) if _lives(now) else None)
        except PlateNotFound:
            _log.debug("Plate %s was pruned meanwhile", plate.plate_id)


def _lives(plate: Plate) -> bool:
    return plate.status != "closed"


def _call(pending: Pending) -> dict[str, Any]:
    return {"toolName": pending.tool, "call": pending.call}
