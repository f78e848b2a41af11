"""All plates: what is reported about them, and what people do with them.

Uses only the log, so that any process can do it. An event must be based on the current plate;
otherwise the log refuses it, and the plate is read again.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from callboard.board.announcing import Announcement
from callboard.board.dialogs import dismissed, handed_over, let_wait
from callboard.board.hook_backlog import NO_BACKLOG, HookBacklog, backlog_in
from callboard.board.hook_folders import hooks_folder
from callboard.board.hosts import Host
from callboard.board.identity import (
    PlateReader,
    goes_on,
    located,
    new_plate,
    plate_id_for,
    reattached,
    session_key,
    with_process,
)
from callboard.board.plate import Plate
from callboard.board.plate_store import (
    CachedPlate,
    Heard,
    PlateStore,
    QuestionAsker,
    Recent,
    who_asked,
)
from callboard.board.recording import Recording
from callboard.board.repeats import as_new, asks, heard_before, lost_plan
from callboard.board.transition import STATUSES
from callboard.clock import Clock
from callboard.errors import PlateNotFound, PositionConflict, SessionExists
from callboard.events import plates
from callboard.events.envelope import Event
from callboard.events.event_name import Entry
from callboard.events.json_values import Object
from callboard.events.rows import Query
from callboard.ids import short_id
from callboard.log.protocol import EventLog, Limit
from callboard.systems.processes import started_at
from callboard.vendors.reports import RelayNumber, Report

if TYPE_CHECKING:
    from callboard.events.payloads.plates import PlateChangedPayload

_LIVING: Final = tuple(status for status in STATUSES if status != "closed")


class Plates:
    """List, record, register, change and dismiss plates.

    host: the host that this runs on; called when needed.
    """

    def __init__(self, log: EventLog, clock: Clock, host: Callable[[], Host] = Host) -> None:
        self._log = log
        self._clock = clock
        self.host = host
        self._reader = PlateReader(log, host)
        self.store = PlateStore(log, clock, self._reader)
        self._recent = Recent[str]()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def is_here(self, plate: Plate) -> bool:
        """Whether it runs on this machine."""
        return not plate.host or plate.host == self.host().id

    async def all(self, *, dismissed: bool = False) -> list[Plate]:
        """Every plate, those that need a person first; with `dismissed`, hidden ones too."""
        where = {} if dismissed else {"dismissed": 0}
        found = await self._reader.all(Query("plates", where, order="created_at"))
        return sorted(found, key=attrgetter("urgency"))

    async def backlog(self) -> HookBacklog:
        """Hook reports in the spool that no server has read yet."""
        path = self._log.path
        return await asyncio.to_thread(backlog_in, hooks_folder(path)) if path else NO_BACKLOG

    async def living(self, host: str | None = None) -> list[Plate]:
        """Every plate of this host that is not closed, including dismissed ones; or of another."""
        query = Query("plates", one_of=("status", _LIVING), order="created_at")
        there = self.host().id if host is None else host
        return [plate for plate in await self._reader.all(query) if plate.host == there]

    async def of_host(self, host_id: str) -> list[Plate]:
        """Every plate of a host that is open or whose requests have no confirmed outcome."""
        found = await self._reader.all(Query("plates", {"host": host_id}))
        return [one for one in found if one.status != "closed" or one.unsettled]

    async def of_processes(self, pids: Collection[int]) -> list[Plate]:
        """Every plate whose client has one of these process ids, closed and dismissed ones too.

        On any host: changing the file with the host's id must not make an agent pass for a person.
        """
        return await self._reader.all(Query("plates", one_of=("pid", sorted(pids))))

    async def awaiting_outcome(self) -> list[Plate]:
        """Every plate of this host with a request whose outcome is not confirmed, closed or not."""
        return await self._reader.here(Query("plates", {"awaits_outcome": 1}))

    async def get(self, plate_id: str, *, dismissed: bool = False) -> Plate:
        """One plate on the board; with `dismissed`, a hidden one too."""
        plate = (await self.store.load(plate_id)).plate
        return plate if dismissed else _shown(plate)

    async def events(self, plate_id: str, after: int = 0, limit: Limit = None) -> list[Event]:
        """What happened on a plate after a position."""
        await self.get(plate_id)
        return await self._log.read(plate_id, after, limit=limit)

    async def lost_plan(self, plate: Plate) -> str | None:
        """The plan that a client lost by clearing its context right after it was approved."""
        return await lost_plan(self._log, plate)

    async def of_session(self, session_id: str) -> Plate | None:
        """The plate that a client's session was last on."""
        return await self._reader.of_session(session_id)

    async def hear(self, report: Report) -> Heard:
        """Record a client's report. A known question is not asked again."""
        limited_to = report.host
        report = located(report, self.host())
        async with self._turn(report.session_id):
            if report.hold is not None:
                asked = await who_asked(self._log, report.hold)
                if asked is not None and await self._may_tell(asked, report.session_id, limited_to):
                    return Heard(await self.get(asked.stream), report.hold)
                if asked is not None:  # The id of someone else's question.
                    report = replace(report, hold=None, request=None)
            if asks(report):
                report = await self._as_new(report)
            while True:
                try:
                    return await self._record(report)
                except (PositionConflict, SessionExists):
                    continue

    async def heard_before(self, session_id: str, reports: Sequence[Report]) -> list[Report]:
        """The reports of a session that are already among its plate's last, with the same time."""
        plate = await self.of_session(session_id)
        return [] if plate is None else await heard_before(self._log, plate, reports)

    async def _as_new(self, report: Report) -> Report:
        plate = await self.of_session(report.session_id)
        now_ms = self._clock.now_ms()
        return report if plate is None else await as_new(self._log, plate, report, now_ms)

    async def let_go(
        self, interaction_id: str, *, session_id: str | None = None, host: str | None = None
    ) -> None:
        """A held hook is gone: its dialog was dismissed in the terminal, or its client died.

        session_id: the session whose hook reports this, if one does. host: the host that this
        hook's token is limited to.
        """
        await self._tell_of(interaction_id, dismissed, session_id, host)

    async def let_wait(self, interaction_id: str) -> None:
        """A held hook is gone, but its dialog is open: only the terminal can answer it now."""
        await self._tell_of(interaction_id, let_wait)

    async def hand_over(
        self,
        interaction_id: str,
        answer: Object,
        *,
        host: str | None = None,
        relayed: RelayNumber | None = None,
    ) -> Plate | None:
        """A held hook gets the answer that was accepted here: its dialog closes.

        host, relayed: the relay's host and the number of its receipt, if the hook waits there.
        """
        build = partial(handed_over, answer=answer)
        return await self._tell_of(interaction_id, build, host=host, relayed=relayed)

    async def tell(
        self,
        plate_id: str,
        build: Callable[[Plate], Entry | None],
        relayed: RelayNumber | None = None,
    ) -> Plate:
        """Record something that no hook reported; `build` gets the current plate.

        relayed: its number, if a relay found it out.
        """
        while True:
            known = await self.store.load(plate_id)
            plate = known.plate
            if (signal := build(plate)) is None:
                return plate
            report = Report(plate.agent, plate.session_id, (signal,), relayed=relayed)
            if plate.has(report):
                return plate
            try:
                return (await self.store.write(known, report)).plate
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
        host: Host | None = None,
    ) -> Plate:
        """Register a client that is about to start; returns its plate, which may already exist.

        host: the one that it starts on, if that is not this one.
        """
        if pid is not None and proc_start is None and host is None:  # Not every client can find it.
            proc_start = await asyncio.to_thread(started_at, pid)
        there = host or self.host()
        told = Announcement(agent, project_path, session_id, pid, proc_start)
        while True:
            for plate in await self.living(there.id):
                if told.is_of(plate):
                    return plate
            with suppress(PositionConflict, SessionExists):  # Its process was faster.
                return await self._announce(told, there)

    async def _announce(self, told: Announcement, host: Host) -> Plate:
        now = self._clock.now_ms()
        before = told.session_id and await self._reader.of_session(told.session_id, host.id)
        if before and told.is_continued_by(before):
            known = await self.store.load(before.plate_id)
            recording = Recording(known.plate, known.plate)
            recording.change(plates.REGISTERED({}), told.reopened(known.plate, host, now))
        else:
            plate = told.plate(host, now)
            if await self._log.lease(plate.plate_id) is not None:  # It had one that ended.
                plate = replace(plate, plate_id=short_id())
            known, recording = CachedPlate(0, plate), Recording(None, plate)
            recording.change(plates.REGISTERED({}), plate)
        await self.store.append(known, recording.events(now), recording.plate)
        return recording.plate

    async def stopped(
        self,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
        host: Host | None = None,
    ) -> int:
        """Record that a client's process has ended; returns how many plates that closed.

        host: the one that it ran on, if that is not this one.
        Without a process or a session, it can only be the clients in that directory with an unknown
        process: there may be others, which are still running.
        """

        def is_meant(plate: Plate) -> bool:
            if pid is not None:
                return plate.pid == pid and proc_start in (None, plate.proc_start)
            if session_id is not None:
                return plate.session_id == session_id
            return plate.project_path == project_path and plate.pid is None

        meant = [plate for plate in await self.living(host and host.id) if is_meant(plate)]
        for plate in meant:
            await self.tell(plate.plate_id, lambda now: plates.PROCESS_EXIT({}))
        return len(meant)

    async def change(
        self,
        plate_id: str,
        *,
        name: str | None = None,
        pinned: bool | None = None,
        seen: bool | None = None,
        by: str | None = None,
    ) -> Plate:
        """Name it, pin it, or mark it as seen or unseen. An empty name removes the name."""
        told: PlateChangedPayload = {} if by is None else {"by": by}
        if name is not None:
            told["name"] = name
        if pinned is not None:
            told["pinned"] = pinned
        if seen is not None:
            told["seen"] = seen

        def changed(plate: Plate) -> Plate:
            return replace(
                _shown(plate),
                name=plate.name if name is None else name or None,
                pinned=plate.pinned if pinned is None else pinned,
                unseen=plate.unseen if seen is None else not seen,
            )

        return await self._change(plate_id, plates.CHANGED(told), changed)

    async def check_out(self, plate_id: str, branch: str) -> Plate:
        """Record that its folder has another branch checked out."""
        told = plates.CHANGED({"gitBranch": branch})
        return await self._change(plate_id, told, lambda plate: replace(plate, git_branch=branch))

    async def dismiss(self, plate_id: str, *, by: str | None = None) -> Plate:
        """Take it off the board until a session starts on it again."""
        told = plates.DISMISSED({} if by is None else {"by": by})
        return await self._change(plate_id, told, lambda plate: replace(plate, dismissed=True))

    # ------------------------------------------------------------------ reading and writing

    def _turn(self, session_id: str) -> asyncio.Lock:
        """Hooks of one session arrive in parallel; handling them one by one avoids conflicts."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    async def _record(self, report: Report) -> Heard:
        known = await self.usual(report)
        fresh = False
        if known is None:
            report = await asyncio.to_thread(with_process, report, self.host())
            if (other := await self._reader.also_reported(report)) is not None:
                return Heard(other)
            found, id = await self._reader.of(report), plate_id_for(report)
            if found is None and await self._log.lease(id) is not None:
                # Another server has made it since, or it was pruned: then it can't be used again.
                found, id = await self._reader.of(report), short_id()
            if found is not None:
                known = await self.store.load(found.plate_id)
                fresh = await self._reader.of_session(report.session_id, report.host) is None
                report = reattached(known.plate, report)
            else:
                known = CachedPlate(0, new_plate(id, report, self.store.at(report)))
        if known.plate.has(report) or (report.known and report.hold is None):
            return Heard(known.plate)
        recording = await self.store.write(known, report, fresh=fresh)
        self._recent.keep(session_key(report), known.plate.plate_id)
        asks = report.hold is not None and recording.plate.dialog(report.hold) is not None
        return Heard(recording.plate, report.hold if asks else None, report.continues)

    def usual_id(self, report: Report) -> str | None:
        """The plate that this session was on most recently."""
        return self._recent.get(session_key(report))

    async def usual(self, report: Report) -> CachedPlate | None:
        """The plate that this session was on most recently, if nothing about it has changed."""
        plate_id = self.usual_id(report)
        if plate_id is None:
            return None
        try:
            known = await self.store.load(plate_id)
        except PlateNotFound:
            return None
        return known if goes_on(known.plate, report) else None

    async def _tell_of(
        self,
        interaction_id: str,
        build: Callable[[Plate, str], Entry | None],
        session_id: str | None = None,
        host: str | None = None,
        relayed: RelayNumber | None = None,
    ) -> Plate | None:
        asked = await who_asked(self._log, interaction_id)
        if asked is None or not await self._may_tell(asked, session_id or asked.session_id, host):
            return None
        return await self.tell(asked.stream, lambda plate: build(plate, interaction_id), relayed)

    async def _may_tell(
        self, asked: QuestionAsker, session_id: str | None, host: str | None
    ) -> bool:
        """Whether a hook of this session, whose token may be limited to a host, asked this."""
        is_its = asked.is_session(session_id)
        return is_its and (host is None or (await self.get(asked.stream)).host == host)

    async def _change(self, plate_id: str, told: Entry, change: Callable[[Plate], Plate]) -> Plate:
        while True:
            known = await self.store.load(plate_id)
            recording = Recording(known.plate, known.plate)
            recording.change(told, change(known.plate))
            try:
                events = recording.events(self._clock.now_ms())
                await self.store.append(known, events, recording.plate)
            except PositionConflict:
                continue
            return recording.plate


def _shown(plate: Plate) -> Plate:
    if plate.dismissed:
        raise PlateNotFound(f"Plate {plate.plate_id!r} was dismissed.", plate_id=plate.plate_id)
    return plate
