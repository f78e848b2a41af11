"""Finds out what no hook reports: what died, what was interrupted, which plate is stuck.

It looks at processes, at what clients say about themselves, at transcripts that continued without a
hook, and at the branch of each project.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final

from callboard.board.branches import Branches
from callboard.board.evidence import details_of, of_dialog
from callboard.board.held_hooks import HeldHooks
from callboard.board.hook_folders import Counting
from callboard.board.outcomes import Settling, tell_if
from callboard.board.plate import Pending, Plate
from callboard.board.plates import Plates
from callboard.board.registries import Registries
from callboard.board.rest import Rest
from callboard.board.transition import NEEDY
from callboard.board.unreported_turns import (
    Interruptions,
    closed_dialogs,
    in_registry,
    without_registry,
)
from callboard.clock import Clock
from callboard.errors import PlateNotFound
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.vendors.claude.registry import Registered

HEALTH_CHECK_INTERVAL_SECS: Final = 10
STALENESS_THRESHOLD_SECS: Final = 2
MAX_RECOVERY_TIME_SECS: Final = 12

ASLEEP_SECS: Final = 3 * HEALTH_CHECK_INTERVAL_SECS
"""A check that comes this late means that the machine was asleep: earlier times mean little."""
GRACE_SECS: Final = 10
"""How many seconds hooks that were in transit have to arrive after sleep."""
_log = logging.getLogger(__name__)

LOOK_EVERY: Final = 0.25
REST: Final = 2.75
"""Seconds to wait in addition while no client runs here, unless something happens."""
LOOK_SOON: Final = 0.05
PROCESSES_EVERY: Final = 1.0
STARTS_WITHIN_MS: Final = 10 * 60_000
"""A client that was announced and not heard from for this long was not started."""
UNHELD_SECS: Final = 10.0
"""A held hook comes back within seconds of a restart; one that doesn't is gone."""


def is_stale(transcript_mtime_secs: float, last_event_secs: float) -> bool:
    """Whether the transcript was written after the last known event."""
    return transcript_mtime_secs > last_event_secs + STALENESS_THRESHOLD_SECS


class Checks:
    """When to check: every ten seconds, but not in the grace period after sleep.

    looks_every: how often `due` is called. It returns true on the last call before the interval is
    over, so that a check is never late.
    """

    def __init__(self, looks_every: float = 0.0) -> None:
        self._looks_every = looks_every
        self._last: float | None = None
        self._quiet_until = 0.0

    def due(self, now: float) -> bool:
        """Whether to check now, in seconds of a wall clock, which continues during sleep."""
        passed = None if self._last is None else round(now - self._last, 3)
        if passed is not None:
            is_last_look = passed + self._looks_every > HEALTH_CHECK_INTERVAL_SECS
            if 0 <= passed < HEALTH_CHECK_INTERVAL_SECS and not is_last_look:
                return False
            if passed < 0:  # Otherwise, a clock that was set back would keep us from checking.
                self._quiet_until = 0.0
            elif passed > ASLEEP_SECS:
                self._quiet_until = now + GRACE_SECS
        self._last = now
        return now >= self._quiet_until


class NextRound(Enum):
    """When to look again."""

    SOON = "soon"
    """Someone waits to find out what became of an answer, or hooks are still to be read."""
    REGULAR = "regular"
    AFTER_REST = "after rest"
    """There is nothing to watch until something happens."""


class Rounds:
    """Watches the plates that are not closed.

    keep_up: briefly reads what hooks left in the spool, and returns whether that was everything. A
    dead process is noticed even if its last hooks have not been read yet.
    rest: taken while there is nothing to watch; without it, rounds are always frequent.
    """

    def __init__(
        self,
        plates: Plates,
        holding: HeldHooks,
        clock: Clock,
        keep_up: Callable[[], Awaitable[bool]],
        counting: Counting | None = None,
        rest: Rest | None = None,
    ) -> None:
        self._plates = plates
        self._holding = holding
        self._clock = clock
        self._keep_up = keep_up
        self._counting = counting
        self._rest = rest
        self._registries = Registries()
        self._settling = Settling(plates, self._registries, clock)
        self._branches = Branches()
        self._interruptions = Interruptions()
        self._checks = Checks(LOOK_EVERY)
        self._unheld: dict[str, float] = {}
        self._processes_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._watching: set[asyncio.Task[None]] = set()
        self.also: Callable[[float], Awaitable[None]] | None = None
        """Something else to do in each round; called with the seconds of a monotonic clock."""
        self.seen: Callable[[Sequence[Plate]], None] | None = None
        """Called in each round with the plates that are not closed."""

    async def start(self) -> None:
        """Start watching."""
        if self._rest is not None:
            self._rest.start()
        self._task = asyncio.create_task(self._go())

    async def stop(self) -> None:
        """Stop watching."""
        tasks = self._watching if self._task is None else {self._task, *self._watching}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._task = None
        if self._rest is not None:
            self._rest.stop()
        await self._registries.stop()

    def watch(self, plate: Plate, interaction_id: str) -> None:
        """Look closely at a client that was just handed an answer."""
        task = asyncio.create_task(self._settling.watch(plate, interaction_id))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _go(self) -> None:
        while True:
            following = NextRound.REGULAR
            is_told = self._rest is not None and self._rest.prepare()
            try:
                following = await self.once()
            except Exception as error:  # A store that fails now may work again later.
                _log.error("The board's watchdog failed: %s", error)
            await self._clock.sleep(LOOK_SOON if following is NextRound.SOON else LOOK_EVERY)
            if self._rest is not None and is_told and following is NextRound.AFTER_REST:
                await self._rest.take(REST)

    async def once(self) -> NextRound:
        """One round; returns when the next one should follow."""
        is_behind = not await self._keep_up()
        living = await self._plates.living()
        self._registries.follow(living)
        now = self._clock.monotonic()
        if now - self._processes_at >= PROCESSES_EVERY:
            self._processes_at = now
            living = [plate for plate in living if not await self._has_died(plate)]
            await self._follow_branches(living)
        await self._read_registry(living)
        soon = await self._settling.look(living)
        await self._miss(living, now)
        is_written = self._counting is None or self._counting.write(now)
        if self.seen is not None:
            self.seen(living)
        if self.also is not None:
            await self.also(now)
        if self._checks.due(self._clock.now_ms() / 1000):
            await self._check_health(living)
        if soon or is_behind:
            return NextRound.SOON
        if living or self._settling.waiting or not is_written:
            return NextRound.REGULAR
        return NextRound.AFTER_REST

    # ------------------------------------------------------------------ processes

    async def _has_died(self, plate: Plate) -> bool:
        if plate.pid is None:
            # A client was about to start, and nothing has been heard from it.
            waited_for = self._clock.now_ms() - plate.created_at
            has_died = plate.status == "starting" and waited_for > STARTS_WITHIN_MS
        else:
            has_died = self._is_gone(plate, plate.pid)
        if not has_died:
            return False
        await self._tell(plate, lambda now: events.PROCESS_EXIT({}))
        return True

    def _is_gone(self, plate: Plate, pid: int) -> bool:
        """Whether its process has ended, or the terminal of a session that runs in a daemon.

        Such a session continues its work without a terminal, and its person can come back.
        """
        host = self._plates.host()
        if not host.runs(pid, plate.proc_start, plate.boot_id):
            return True
        if plate.client_pid is None or host.runs(plate.client_pid, plate.client_start, ""):
            return False
        known = self._registries.of(plate)
        return known is None or known.status == "idle"

    # ------------------------------------------------------------------ branches

    async def _follow_branches(self, living: Sequence[Plate]) -> None:
        self._branches.keep_only({plate.project_path for plate in living})
        for plate in living:
            branch = self._branches.of(plate.project_path)
            if branch is not None and branch != plate.git_branch:
                with suppress(PlateNotFound):  # It was pruned in the meantime.
                    await self._plates.check_out(plate.plate_id, branch)

    # ------------------------------------------------------------------ the client's registry

    async def _read_registry(self, living: Iterable[Plate]) -> None:
        self._interruptions.keep_only({plate.plate_id for plate in living})
        for plate in living:
            if (known := self._registries.of(plate)) is not None:
                await self._tell(plate, lambda now, known=known: self._from_registry(now, known))
            elif (found := self._interruptions.found(plate)) is not None:
                await self._tell(
                    plate, lambda now, then=plate, found=found: _unless(now, then, found)
                )

    def _from_registry(self, plate: Plate, known: Registered) -> Entry | None:
        """What the client says about itself that no hook has reported."""
        found = in_registry(plate, known, self._clock.now_ms())
        over = closed_dialogs(plate, known)
        return self._resolved(plate, over[0]) if found is None and over else found

    def _resolved(self, plate: Plate, pending: Pending) -> Entry | None:
        """A dialog that is gone while the client keeps working: it was allowed or denied."""
        shown = of_dialog(self._settling.at(plate), pending)
        if shown is None:
            return None
        told = details_of(shown)
        if pending.id:
            return events.PERMISSION_RESOLVED({"request": pending.id, **told})
        return events.PERMISSION_RESOLVED({"toolName": pending.tool, "call": pending.call, **told})

    # ------------------------------------------------------------------ hooks that are gone

    async def _miss(self, living: Sequence[Plate], now: float) -> None:
        """Release hooks that were held before the server started and haven't come back."""
        asked = {one.id for plate in living for one in plate.pending if one.id is not None}
        missing = asked - await self._holding.held(asked)
        self._unheld = {id: self._unheld.get(id, now) for id in missing}
        for id, since in list(self._unheld.items()):
            if now - since >= UNHELD_SECS and not self._holding.closing:
                await self._give_up(id, living)

    async def _give_up(self, interaction_id: str, living: Sequence[Plate]) -> None:
        """The dialog of a gone hook is closed, too, unless the client says that it waits."""
        asks = (one for one in living if any(p.id == interaction_id for p in one.pending))
        known = next((self._registries.of(plate) for plate in asks), None)
        if known is not None and known.status == "waiting":
            await self._plates.let_wait(interaction_id)
        else:
            await self._plates.let_go(interaction_id)

    # ------------------------------------------------------------------ the health check

    async def _check_health(self, living: Sequence[Plate]) -> None:
        asked = {one.id for plate in living for one in plate.pending if one.id is not None}
        held = await self._holding.held(asked)
        for plate in living:
            await self._tell(plate, lambda now: self._recovered(now, held))

    def _recovered(self, plate: Plate, held: Collection[str]) -> Entry | None:
        if self._may_be_stuck(plate, held):
            return events.HEALTH_CHECK_RECOVERY({})
        if self._registries.of(plate) is not None:
            return None  # It is checked in every round.
        return without_registry(plate, self._clock.now_ms())

    def _may_be_stuck(self, plate: Plate, held: Collection[str]) -> bool:
        if plate.status not in NEEDY or plate.transcript_path is None:
            return False
        if any(one.id in held for one in plate.pending):
            return False
        known = self._registries.of(plate)
        if known is not None and known.status == "waiting":
            return False
        try:
            written = Path(plate.transcript_path).stat().st_mtime
        except (OSError, ValueError):
            return False
        return is_stale(written, plate.updated_at / 1000)

    async def _tell(self, plate: Plate, build: Callable[[Plate], Entry | None]) -> None:
        await tell_if(
            self._plates, plate, lambda now: None if now.status == "closed" else build(now)
        )


def _unless(now: Plate, then: Plate, found: Entry) -> Entry | None:
    """What was found out about a plate, unless something was reported since."""
    return found if now.status_at == then.status_at else None
