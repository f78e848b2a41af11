"""What arrives from hooks: whatever it is, it is heard, kept or counted, and never refused."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from callboard.board.plates import Heard, Plates
from callboard.board.processes import started_at
from callboard.board.raw import KEPT
from callboard.errors import StoreError
from callboard.events.codec import has_many_values
from callboard.ids import short_id
from callboard.vendors.agents import VENDORS
from callboard.vendors.reports import Report, unheard

_log = logging.getLogger(__name__)

_DELIVERIES = 1000
"""How many of the last deliveries are known again."""
_SEARCHED = 65_536
_LONGEST_NUMBER = 40
_SESSION = re.compile(r'"session_id"\s*:\s*"([^"\\]{1,200})"')
_HOOK = re.compile(r'"hook_event_name"\s*:\s*"([^"\\]{1,100})"')


@dataclass(slots=True)
class Received:
    """How much was heard since the server began, for those who look after it."""

    heard: int = 0
    garbage: int = 0
    failed: int = 0
    last_at: int | None = None
    last_agent: str | None = None


class Listener:
    """Turns bytes into reports and hands them to the plates."""

    def __init__(self, plates: Plates, now_ms: Callable[[], int]) -> None:
        self._plates = plates
        self.now_ms = now_ms
        self.received = Received()
        self._deliveries: dict[str | None, None] = {}
        self.before: Callable[[], Awaitable[None]] | None = None
        """Called before anything that comes directly: what was spooled earlier comes first."""

    async def hear(self, agent: str, body: bytes, *, holds: bool = True) -> Heard | None:
        """What a hook sent itself; None when it says nothing that belongs to a plate.

        holds: whoever sent it waits for the answer, so that what it asks can be answered.
        """
        if self.before is not None:
            try:
                await self.before()
            except Exception as error:  # What lies there is no fault of who comes now.
                _log.error("The spool could not be emptied: %s", error)
        report = self._report(agent, body)
        if report is None or report.delivery in self._deliveries:
            return None
        hold = _hold(report) if holds else None
        return await self._tell(report if report.hold == hold else replace(report, hold=hold))

    async def overhear(
        self, agent: str, body: bytes, at_ms: int, pid: int | None, *, again: bool = False
    ) -> None:
        """What a hook left in the spool: it happened then, and nobody waits.

        again: it may have been heard before, and is not recorded twice.
        """
        report = self._report(agent, body)
        if report is None:
            return
        if report.pid is None and pid is not None:
            report = replace(report, pid=pid, proc_start=await asyncio.to_thread(started_at, pid))
        if not report.gone:
            report = replace(report, hold=None)
        report = replace(report, at_ms=report.at_ms or at_ms)
        # Whoever tried to bring it before it was left here may have brought it.
        may_be_known = again or report.delivery is not None
        if not may_be_known or not await self._plates.has_heard(report):
            await self._tell(report)

    def _report(self, agent: str, body: bytes) -> Report | None:
        vendor, payload = VENDORS.get(agent), _object(body)
        if payload is None:
            report = _beginning(agent, body)
        else:
            report = vendor.translate(payload) if vendor else None
        if report is None or payload is None:
            self.received.garbage += 1
        if report is None:
            return None
        self.received.heard += 1
        self.received.last_at, self.received.last_agent = self.now_ms(), agent
        return report

    async def _tell(self, report: Report) -> Heard | None:
        if report.gone and report.hold is not None:
            await self._plates.let_go(report.hold, session_id=report.session_id)
            return None
        try:
            heard = await self._plates.hear(report)
        except StoreError:
            self.received.failed += 1
            raise
        if report.delivery is not None:
            self._remember(report.delivery)
        return heard

    def _remember(self, delivery: str) -> None:
        """A client whom we kept waiting leaves the same in the spool, and we have it twice."""
        self._deliveries[delivery] = None
        if len(self._deliveries) > _DELIVERIES:
            del self._deliveries[next(iter(self._deliveries))]


def _hold(report: Report) -> str | None:
    """The id of a hook that waits: its own, or one for a client that knows none of ours.

    Our own client that gives none does not wait, and nobody could answer it.
    """
    payload = cast("Mapping[str, Any]", report.raw or {})
    if report.request is None or "callboard" in payload:
        return report.hold
    return report.hold or short_id()


def _beginning(agent: str, body: bytes) -> Report | None:
    """What is left of a payload that was too large, or cut off: whose it is, and what it was."""
    text = body[:_SEARCHED].decode("utf-8", "replace")
    session, hook = _SESSION.search(text), _HOOK.search(text)
    if session is None or agent not in VENDORS:
        return None
    raw = {"truncated": True, "text": text[:KEPT], "bytes": len(body)}
    return unheard(agent, session[1], raw, hook[1] if hook else "")


def _whole(digits: str) -> int | str:
    """A number; one that nobody means is kept as its digits, because to read it takes long."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def _object(body: bytes) -> Mapping[str, Any] | None:
    if has_many_values(body):
        return None
    try:
        # Not orjson: clients write what strict readers refuse, such as lone surrogates.
        payload = json.loads(body, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", payload) if isinstance(payload, dict) else None
