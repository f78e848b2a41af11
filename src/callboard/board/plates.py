"""Every plate there is: what is heard of them, and what people do with them.

By the log alone, so that any process can do it. Who writes a plate's event has read the plate as
it is, or the log refuses it, and it is read again.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from weakref import WeakValueDictionary

from callboard.board.dialogs import Moment
from callboard.board.identity import find_plate, of_session
from callboard.board.keeping import Kept, Known
from callboard.board.plate import Plate
from callboard.board.questions import questions_of, who_asked
from callboard.board.recording import Recording, record
from callboard.board.remembering import asks, has_heard, result_time, use_of, was_decided
from callboard.board.transition import STATUSES
from callboard.clock import Clock
from callboard.errors import PlateNotFound, PositionConflict, SessionExists
from callboard.events import plates
from callboard.events.rows import Query
from callboard.ids import short_id
from callboard.log.protocol import EventLog, Writing
from callboard.vendors.reports import Report, Signal

_LIVING: Final = tuple(status for status in STATUSES if status != "closed")
_AFTERWARDS: Final = (Signal(plates.HOOK_HEARD, {"hook": "PermissionRequest"}),)
"""What is left of a request that was decided before it was heard."""
_RECENT: Final = 1000
"""How many sessions are found again without asking the database whose they are."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Where a report went: to which plate, and which question it opened."""

    plate: Plate
    interaction_id: str | None = None


class Plates:
    """List, hear, register, change, dismiss."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._recent: dict[str, str] = {}
        self._kept = Kept()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def all(self, *, dismissed: bool = False) -> list[Plate]:
        """Every plate that is shown; with `dismissed`, those that are not as well."""
        where = {} if dismissed else {"dismissed": 0}
        rows = await self._log.rows(Query("plates", where, order="created_at"))
        return [Plate.from_row(row) for row in rows]

    async def living(self) -> list[Plate]:
        """Every plate that is not closed, dismissed ones too."""
        query = Query("plates", one_of=("status", _LIVING), order="created_at")
        return [Plate.from_row(row) for row in await self._log.rows(query)]

    async def awaiting_outcome(self) -> list[Plate]:
        """Every plate with a request whose outcome is not confirmed, closed ones too."""
        rows = await self._log.rows(Query("plates", {"awaits_outcome": 1}))
        return [Plate.from_row(row) for row in rows]

    async def get(self, plate_id: str) -> Plate:
        """One plate."""
        return (await self._load(plate_id)).plate

    async def of_session(self, session_id: str) -> Plate | None:
        """The plate that a client's session was last on."""
        return await of_session(self._log, session_id)

    async def hear(self, report: Report) -> Heard:
        """Record what a client told. A question that is known already is not asked again."""
        async with self._turn(report.session_id):
            if report.hold is not None:
                asked = await who_asked(self._log, report.hold)
                if asked is not None and asked.is_session(report.session_id):
                    return Heard(await self.get(asked.stream), report.hold)
                if asked is not None:  # The id of somebody else's question.
                    report = replace(report, hold=None, request=None)
            if await self._was_decided(report):
                report = replace(report, hold=None, request=None, signals=_AFTERWARDS)
            while True:
                try:
                    return await self._record(report)
                except (PositionConflict, SessionExists):
                    continue

    async def has_heard(self, report: Report) -> bool:
        """Whether this very payload, of this very moment, is among the last of its plate."""
        plate = await self.of_session(report.session_id)
        return plate is not None and await has_heard(self._log, plate, report)

    async def _was_decided(self, report: Report) -> bool:
        plate = await self.of_session(report.session_id) if asks(report) else None
        return plate is not None and await was_decided(self._log, plate, report)

    async def let_go(self, interaction_id: str, *, session_id: str | None = None) -> None:
        """A held hook is gone: its dialog was left in the terminal, or its client died.

        session_id: whose hook says so, where it is one that says it.
        """

        def leave(plate: Plate) -> Signal | None:
            pending = plate.dialog(interaction_id)
            if pending is None:
                return None
            others = [one for one in plate.pending if one.id not in (None, interaction_id)]
            if pending.subagent is not None or others:
                # The turn goes on: the other dialogs have hooks of their own.
                told = {"request": interaction_id, "outcome": "unknown"}
                return Signal(plates.PERMISSION_RESOLVED, told)
            return Signal(plates.TURN_IDLE, {"interrupted": True})

        await self._tell_of(interaction_id, leave, session_id)

    async def let_wait(self, interaction_id: str) -> None:
        """A held hook is gone, but its dialog is open: only the terminal can answer it now."""

        def unhold(plate: Plate) -> Signal | None:
            if plate.dialog(interaction_id) is None:
                return None
            return Signal(plates.HOOK_HEARD, {"hook": "", "unheld": interaction_id})

        await self._tell_of(interaction_id, unhold)

    async def hand_over(self, interaction_id: str) -> None:
        """A held hook gets the answer that was accepted here: its dialog closes."""

        def resolve(plate: Plate) -> Signal | None:
            details = {"request": interaction_id, "handed": True}
            if plate.dialog(interaction_id) is not None:
                return Signal(plates.PERMISSION_RESOLVED, details)
            if plate.awaits_outcome_of(interaction_id):
                return Signal(plates.PERMISSION_SETTLED, details)
            return None

        await self._tell_of(interaction_id, resolve)

    async def tell(self, plate_id: str, build: Callable[[Plate], Signal | None]) -> Plate:
        """Record what was found out without a hook; `build` looks at the plate as it is."""
        while True:
            known = await self._load(plate_id)
            signal = build(known.plate)
            if signal is None:
                return known.plate
            report = Report(known.plate.agent, known.plate.session_id, (signal,))
            try:
                return (await self._write(known, report)).plate
            except PositionConflict:
                continue

    async def register(
        self,
        agent: str,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> Plate:
        """A client is about to start: a plate waits for it, if it does not have one already."""
        known = await self._registered(session_id, pid, proc_start)
        if known is not None:
            return known
        now = self._clock.now_ms()
        plate = Plate(
            plate_id=short_id(),
            agent=agent,
            session_id=session_id or f"pending:{short_id()}",
            created_at=now,
            updated_at=now,
            project_path=project_path,
            pid=pid,
            proc_start=proc_start,
            last_event=plates.REGISTERED,
        )
        recording = Recording(None, plate)
        recording.change(plates.REGISTERED, {}, plate)
        await self._append(plate.plate_id, recording, 0, now)
        return plate

    async def _registered(
        self, session_id: str | None, pid: int | None, proc_start: str | None
    ) -> Plate | None:
        """The plate that the client has already, by its process or by its session."""
        for plate in await self.living():
            if pid is not None and (plate.pid, plate.proc_start) == (pid, proc_start):
                return plate
            if pid is None and session_id is not None and plate.session_id == session_id:
                return plate
        return None

    async def stopped(
        self,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> int:
        """A client's process has ended; how many plates that closed.

        Who knows neither process nor session can only mean the clients of that directory whose
        process nobody knows: there may be others, and they live.
        """

        def is_meant(plate: Plate) -> bool:
            if pid is not None:
                return plate.pid == pid and proc_start in (None, plate.proc_start)
            if session_id is not None:
                return plate.session_id == session_id
            return plate.project_path == project_path and plate.pid is None

        meant = [plate for plate in await self.all(dismissed=True) if is_meant(plate)]
        closed = 0
        for plate in meant:
            if plate.status != "closed":
                await self.tell(plate.plate_id, lambda now: Signal(plates.PROCESS_EXIT))
                closed += 1
        return closed

    async def change(
        self,
        plate_id: str,
        *,
        name: str | None = None,
        pinned: bool | None = None,
        seen: bool | None = None,
        by: str | None = None,
    ) -> Plate:
        """Name it, pin it, mark it as seen or not. An empty name takes the name away."""
        told = {"name": name, "pinned": pinned, "seen": seen, "by": by}
        details = {key: value for key, value in told.items() if value is not None}

        def changed(plate: Plate) -> Plate:
            return replace(
                plate,
                name=plate.name if name is None else name or None,
                pinned=plate.pinned if pinned is None else pinned,
                unseen=plate.unseen if seen is None else not seen,
            )

        return await self._change(plate_id, plates.CHANGED, details, changed)

    async def dismiss(self, plate_id: str, *, by: str | None = None) -> Plate:
        """Take it off the board; a session that starts on it brings it back."""
        details = {} if by is None else {"by": by}
        return await self._change(
            plate_id, plates.DISMISSED, details, lambda plate: replace(plate, dismissed=True)
        )

    # ------------------------------------------------------------------ reading and writing

    def _turn(self, session_id: str) -> asyncio.Lock:
        """Hooks of one session come side by side; one after the other spares conflicts."""
        lock = self._turns.get(session_id)
        if lock is None:
            lock = self._turns[session_id] = asyncio.Lock()
        return lock

    async def _record(self, report: Report) -> Heard:
        known = await self._usual(report)
        if known is not None:
            recording = await self._write(known, report)
        elif (found := await find_plate(self._log, report)) is None:
            known = Known(0, _new(await self._id_for(report), report, self._moment(report)))
            recording = await self._write(known, report)
        else:
            known = await self._load(found.plate_id)
            fresh = await self.of_session(report.session_id) is None
            recording = await self._write(known, report, fresh=fresh)
        self._remember(report.session_id, known.plate.plate_id)
        asks = report.hold is not None and recording.plate.dialog(report.hold) is not None
        return Heard(recording.plate, report.hold if asks else None)

    async def _with_call(self, plate: Plate, report: Report) -> Report:
        """A request with the id of its call; the start of a call with the time of its result."""
        if report.hold is not None and asks(report):
            use = await use_of(self._log, plate, report)
            return report if use is None else report.having({"toolUseId": use})
        if any(one.use is None for one in (*plate.pending, *plate.unsettled)):
            over_at = result_time(report)
            return report if over_at is None else report.having({"resultAt": over_at})
        return report

    async def _usual(self, report: Report) -> Known | None:
        """The plate that this session was on just now, if nothing is new about it."""
        plate_id = self._recent.get(report.session_id)
        if plate_id is None:
            return None
        try:
            known = await self._load(plate_id)
        except PlateNotFound:
            return None
        plate = known.plate
        is_process = report.pid is None or (report.pid, report.proc_start) == (
            plate.pid,
            plate.proc_start,
        )
        is_session = plate.session_id == report.session_id and plate.status != "closed"
        return known if is_session and is_process else None

    def _remember(self, session_id: str, plate_id: str) -> None:
        self._recent[session_id] = plate_id
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]

    def _moment(self, report: Report) -> int:
        now = self._clock.now_ms()
        return min(report.at_ms or now, now)

    async def _id_for(self, report: Report) -> str:
        """The same for whoever hears of a client first, so that two cannot make two plates."""
        who = f"{report.agent}:{report.pid}:{report.proc_start or report.session_id}"
        id = "p" + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()[:15]
        # One that was pruned is hidden, and its id cannot be given again.
        return short_id() if await self._log.lease(id) is not None else id

    async def _write(self, known: Known, report: Report, *, fresh: bool = False) -> Recording:
        """Fold a report into a plate and append what came of it; PositionConflict if it moved."""
        report = await self._with_call(known.plate, report)
        questions = await questions_of(self._log, known.plate, self._clock.now_ms())
        before = None if known.head == 0 else known.plate
        at_ms = self._moment(report)
        moment = Moment(at_ms, report.session_id, fresh, self._clock.now_ms())
        told = record(before, known.plate, report, moment, questions)
        await self._append(known.plate.plate_id, told, known.head, at_ms)
        return told

    async def _tell_of(
        self,
        interaction_id: str,
        build: Callable[[Plate], Signal | None],
        session_id: str | None = None,
    ) -> None:
        asked = await who_asked(self._log, interaction_id)
        if asked is not None and asked.is_session(session_id or asked.session_id):
            await self.tell(asked.stream, build)

    async def _change(
        self, plate_id: str, name: str, details: Mapping[str, Any], change: Callable[[Plate], Plate]
    ) -> Plate:
        while True:
            known = await self._load(plate_id)
            recording = Recording(known.plate, known.plate)
            recording.change(name, details, change(known.plate))
            try:
                await self._append(plate_id, recording, known.head, self._clock.now_ms())
            except PositionConflict:
                continue
            return recording.plate

    async def _append(self, plate_id: str, recording: Recording, head: int, at_ms: int) -> None:
        # Settled at once: a plate is nothing that a driver could carry forward.
        writing = Writing(expect=head, settle=True)
        appended = await self._log.append(plate_id, recording.events(at_ms), writing)
        self._kept.keep(Known(appended.head, recording.plate))

    async def _load(self, plate_id: str) -> Known:
        # In this order: what changes the plate after the row was read, moves the head.
        head = await self._log.head(plate_id)
        kept = self._kept.at(plate_id, head)
        if kept is not None:
            return kept
        rows = await self._log.rows(Query("plates", {"id": plate_id}))
        if not rows:
            raise PlateNotFound(
                f"There is no plate {plate_id!r}. See what there is with: callboard plates",
                plate_id=plate_id,
            )
        return Known(head, Plate.from_row(rows[0]))


def _new(plate_id: str, report: Report, at_ms: int) -> Plate:
    return Plate(
        plate_id=plate_id,
        agent=report.agent,
        session_id=report.session_id,
        created_at=at_ms,
        updated_at=at_ms,
        last_event=plates.REGISTERED,
    )
