"""Handles what hooks send: whatever it is, it is recorded, kept or counted, but never refused."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from callboard.board.identity import limited
from callboard.board.late_hook import LateHook
from callboard.board.plate_store import Heard, Recent
from callboard.board.plates import Plates
from callboard.board.repeats import KEPT
from callboard.board.report_batch import ReportBatch
from callboard.errors import StoreError
from callboard.events.codec import MOST_VALUES, values_so_far
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, is_object
from callboard.ids import short_id
from callboard.systems.processes import started_at
from callboard.vendors.agents import VENDORS
from callboard.vendors.hooks import heard
from callboard.vendors.reports import Report

T = TypeVar("T")

_SEARCHED = 65_536
_LONGEST_NUMBER = 40
_SESSION = re.compile(r'"session_id"\s*:\s*"([^"\\]{1,200})"')
_HOOK = re.compile(r'"hook_event_name"\s*:\s*"([^"\\]{1,100})"')

PROBE: Final = "callboardTest"
"""The member of a payload that only tests whether hooks arrive."""


@dataclass(slots=True)
class Received:
    """What was received since the server started, for diagnostics."""

    heard: int = 0
    garbage: int = 0
    failed: int = 0
    last_at: int | None = None
    last_agent: str | None = None


def _ignored(report: Report) -> None:
    """Do nothing with a report."""


class Listener:
    """Turns bytes into reports and passes them to the plates.

    recorded: called with each report of a hook, once it is recorded.
    """

    def __init__(
        self,
        plates: Plates,
        now_ms: Callable[[], int],
        recorded: Callable[[Report], None] = _ignored,
    ) -> None:
        self._recorded = recorded
        self._plates = plates
        self.now_ms = now_ms
        self.received = Received()
        self.probes: dict[str, asyncio.Event] = {}
        """Hook tests in progress: each is set when its payload arrives."""
        self._deliveries = Recent[None]()

    async def read(self, agent: str, body: bytes, host: str | None = None) -> Report | None:
        """The report in a payload; None if nothing in it belongs to a plate.

        host: the host that its sender's token is limited to.
        """
        vendor, payload = VENDORS.get(agent), await _object(body)
        if payload is not None and PROBE in payload:
            self._probed(payload[PROBE])
            return None
        if payload is None:
            report = _beginning(agent, body)
        else:
            report = vendor.translate(payload) if vendor else None
            if len(body) > MOST_VALUES:
                await asyncio.sleep(0)
        if report is None or payload is None:
            self.received.garbage += 1
        return None if report is None else limited(report, host)

    def _probed(self, id: Json) -> None:
        """Note that a test has arrived; nothing else happens."""
        waiting = self.probes.get(id) if isinstance(id, str) else None
        if waiting is not None:
            waiting.set()

    async def hear(self, report: Report) -> Heard | None:
        """Record a hook that was sent directly and is waiting; None if it is already known."""
        if report.delivery in self._deliveries:
            return None
        self.count(report)
        return await self._tell(replace(report, hold=_hold(report)))

    async def overhear(self, hooks: Sequence[LateHook]) -> None:
        """Record what hooks left in the spool: it happened earlier, and no one is waiting."""
        batch: list[Report] = []
        for report in await self._late(hooks):
            self.count(report)
            if report.gone:  # It ends a question that another of them may have opened.
                await self._record(batch)
                await self._tell(report)
                batch = []
            else:
                batch.append(report)
        await self._record(batch)

    async def _late(self, hooks: Sequence[LateHook]) -> list[Report]:
        """What is new in these payloads, with the times and processes from their files."""
        pids = {hook.pid for hook in hooks if hook.pid is not None}
        starts = await asyncio.to_thread(lambda: {pid: started_at(pid) for pid in pids})
        reports: list[Report] = []
        doubtful: dict[str, list[Report]] = {}
        for hook in hooks:
            report = await self.read(hook.agent, hook.body, hook.host)
            if report is None:
                continue
            if report.pid is None and hook.pid is not None:
                report = replace(report, pid=hook.pid, proc_start=starts[hook.pid])
            report = replace(report.from_spool(), at_ms=report.at_ms or hook.at_ms)
            reports.append(report)
            # The process that tried to deliver it before spooling it may have succeeded.
            if hook.again or report.delivery is not None:
                doubtful.setdefault(report.session_id, []).append(report)
        known: list[Report] = []
        for session_id, asked in doubtful.items():
            known += await self._plates.heard_before(session_id, asked)
        return [report for report in reports if not any(report is one for one in known)]

    async def _record(self, batch: Sequence[Report]) -> None:
        if batch:
            await self._told(ReportBatch(self._plates).hear(batch), batch)

    async def _tell(self, report: Report) -> Heard | None:
        if report.gone and report.hold is not None:
            await self._plates.let_go(report.hold, session_id=report.session_id, host=report.host)
            return None
        return await self._told(self._plates.hear(report), [report])

    async def _told(self, recording: Awaitable[T], reports: Iterable[Report]) -> T:
        try:
            outcome = await recording
        except StoreError:
            self.received.failed += 1
            raise
        for report in reports:
            if report.delivery is not None:
                # A client that we kept waiting spools the same payload, so it comes twice.
                self._deliveries.keep(report.delivery, None)
            self._recorded(report)
        return outcome

    def count(self, report: Report) -> None:
        """Count a report that arrived."""
        self.received.heard += 1
        self.received.last_at, self.received.last_agent = self.now_ms(), report.agent


def _hold(report: Report) -> str | None:
    """The id of a hook that waits: its own, or a new one for a client that doesn't send our ids.

    If our own hook client sends none, it doesn't wait, and could not be answered.
    """
    if report.request is None or "callboard" in as_object(report.raw):
        return report.hold
    return report.hold or short_id()


def _beginning(agent: str, body: bytes) -> Report | None:
    """What is left of a payload that was too large or cut off: its session and its hook."""
    text = body[:_SEARCHED].decode("utf-8", "replace")
    session, hook = _SESSION.search(text), _HOOK.search(text)
    if session is None or agent not in VENDORS:
        return None
    raw = {"truncated": True, "text": text[:KEPT], "bytes": len(body)}
    return Report(agent, session[1], (heard(hook[1] if hook else ""),), raw)


def _whole(digits: str) -> int | str:
    """A number; one that is absurdly long is kept as digits, because parsing it takes long."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


async def _object(body: bytes) -> Object | None:
    is_large = len(body) > MOST_VALUES
    if is_large and await _has_many_values(body):
        return None
    payload = _parsed(body)
    if is_large:
        await asyncio.sleep(0)  # That took a while; let other tasks run.
    return payload if is_object(payload) else None


async def _has_many_values(body: bytes) -> bool:
    for count in values_so_far(body):
        if count > MOST_VALUES:
            return True
        await asyncio.sleep(0)
    return False


def _parsed(body: bytes) -> Json:
    try:
        # Not orjson: clients write what strict parsers refuse, such as lone surrogates.
        return json.loads(body, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
