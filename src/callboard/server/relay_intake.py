"""Records what the relays of other machines send: in order, and each item once.

A relay sends its items until they are confirmed, so any of them may come again, also while another
server records them. A plate has the number of the last item that was recorded on it, written in the
same append as what the item says.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from callboard.board.host_requests import HostRequests
from callboard.board.hosts import Host
from callboard.board.intake import Listener
from callboard.board.plates import Plates
from callboard.board.report_batch import ReportBatch
from callboard.engine.inbox import Inbox
from callboard.errors import NotFound, StoreError
from callboard.events import plates as events
from callboard.events.json_values import Object, as_object, as_text, as_whole
from callboard.relay.batches import (
    CHILD,
    GONE,
    HOOK,
    RECEIPT,
    REGISTERED,
    SIGHTING,
    RelayItem,
)
from callboard.relay.command_table import LARGEST_RESULT
from callboard.server.sightings import signal_of
from callboard.vendors.reports import RelayNumber, Report

_log = logging.getLogger(__name__)

_LARGEST_NOTE = 65_536
"""Bytes of an item that is not a hook's payload."""
_LONGEST_SESSION = 200
_LARGEST_RECEIPT = LARGEST_RESULT + _LARGEST_NOTE


@dataclass(frozen=True, slots=True)
class RelaySource:
    """Where items come from: the host that the token names, and the relay's outbox."""

    host: str
    host_name: str
    incarnation: str

    def number(self, item: RelayItem) -> RelayNumber:
        """The item's number, as a plate has it."""
        return RelayNumber(self.incarnation, item.number)


class RelayIntake:
    """Takes the items of relays to the plates."""

    def __init__(
        self, plates: Plates, listener: Listener, inbox: Inbox, requests: HostRequests | None = None
    ) -> None:
        self._requests = requests
        self._plates = plates
        self._listener = listener
        self._inbox = inbox

    async def take(self, source: RelaySource, items: Sequence[RelayItem]) -> list[str]:
        """Record them; returns the questions whose hooks wait at the relay.

        StoreError if that isn't possible now. The relay then sends all of them again.
        """
        held: list[str] = []
        batch: list[Report] = []
        for item in items:
            report = await self._read(source, item) if item.kind == HOOK else None
            if report is not None and not report.gone:
                held += [report.hold] if report.hold is not None else []
                batch.append(report)
                continue
            await self._record(batch)
            batch = []
            await self._note(source, item, report)
        await self._record(batch)
        return held

    async def _read(self, source: RelaySource, item: RelayItem) -> Report | None:
        report = await self._listener.read(item.agent, item.body, source.host)
        if report is None:
            return None
        self._listener.count(report)
        if report.pid is None and item.pid is not None:
            report = replace(report, pid=item.pid, proc_start=item.start)
        report = replace(
            report.from_spool() if item.is_from_spool else report,
            at_ms=report.at_ms or item.at_ms,
            host=source.host,
            host_name=source.host_name,
            boot_id=item.boot_id,
            relayed=source.number(item),
        )
        return None if item.again and await self._is_known(report) else report

    async def _is_known(self, report: Report) -> bool:
        """Whether it was recorded on a plate that its session has left since.

        The plate that it belongs to now doesn't have its number then.
        """
        return bool(await self._plates.heard_before(report.session_id, [report]))

    async def _record(self, batch: Sequence[Report]) -> None:
        try:
            await ReportBatch(self._plates).hear(batch)
        except StoreError:
            raise
        except Exception:
            for report in batch:
                await self._record_one(report)

    async def _record_one(self, report: Report) -> None:
        try:
            await self._plates.hear(report)
        except StoreError:
            raise
        except Exception:
            # It would fail every time, and everything after it would wait.
            _log.exception("A hook of %s on %s was lost", report.agent, report.host_name)
            self._listener.received.failed += 1

    # ------------------------------------------------------------------ items without a payload

    async def _note(self, source: RelaySource, item: RelayItem, report: Report | None) -> None:
        if report is not None and report.hold is not None:
            await self._left(source, report.hold, report.session_id)
        elif item.kind == GONE:
            await self._left(source, as_text(_told(item).get("hold")))
        elif item.kind == RECEIPT:
            await self._receipt(source, item)
        elif item.kind == SIGHTING:
            await self._seen(source, item)

    async def _seen(self, source: RelaySource, item: RelayItem) -> None:
        """Record what was seen on the machine, on one of its own plates."""
        told = _told(item)
        if told.get("event") == REGISTERED:
            return await self._register(source, told)
        if told.get("event") == CHILD:
            return await self._continue(source, told)
        try:
            plate = await self._plates.get(as_text(told.get("plate")), dismissed=True)
        except NotFound:
            return None
        if plate.host == source.host:
            number = source.number(item)
            await self._plates.tell(plate.plate_id, lambda now: signal_of(told, now), number)
        return None

    async def _register(self, source: RelaySource, told: Object) -> None:
        """A client was started there. What was sent again is known by then."""
        pid, start = _process(told)
        if not pid or not start:
            return
        host = Host(source.host, source.host_name, as_text(told.get("boot")))
        for one in await self._plates.of_processes([pid]):
            if (one.host, one.boot_id, one.proc_start) == (host.id, host.boot_id, start):
                return
        agent, folder = as_text(told.get("agent")), as_text(told.get("project_path"))
        session_id = as_text(told.get("session_id"))[:_LONGEST_SESSION] or None
        await self._plates.register(
            agent,
            project_path=folder,
            session_id=session_id,
            pid=pid,
            proc_start=start,
            host=host,
        )

    async def _continue(self, source: RelaySource, told: Object) -> None:
        """The hooks of a client that was started there come from a child process of it."""
        pid, start = _process(told)
        parent, parent_start = _process(as_object(told.get("of")))
        for one in await self._plates.of_processes([parent]):
            is_meant = (one.host, one.proc_start) == (source.host, parent_start)
            if is_meant and one.status == "starting" and pid and start and parent_start:
                report = Report(
                    one.agent,
                    one.session_id,
                    (events.HOOK_HEARD({"hook": ""}),),
                    pid=pid,
                    proc_start=start,
                    client_pid=parent,
                    client_start=parent_start,
                    host=source.host,
                    host_name=source.host_name,
                    boot_id=as_text(told.get("boot")),
                )
                await self._plates.hear(report)

    async def _left(self, source: RelaySource, hold: str, session_id: str | None = None) -> None:
        with suppress(NotFound):
            await self._plates.let_go(hold, session_id=session_id, host=source.host)

    async def _receipt(self, source: RelaySource, item: RelayItem) -> None:
        told = _told(item, _LARGEST_RECEIPT)
        if len(item.body) > _LARGEST_NOTE:
            await asyncio.sleep(0)  # Parsing took a while; let others run.
        hold = as_text(told.get("hold"))
        if self._requests is not None and not hold:
            await self._requests.answered(source.host, told)
        elif told.get("result") == "handed":
            await self._handed(source, item, hold)
        else:
            _log.warning("%s refused a command: %s", source.host_name, as_text(told.get("command")))

    async def _handed(self, source: RelaySource, item: RelayItem, hold: str) -> None:
        with suppress(NotFound):
            answer = (await self._inbox.get(hold)).for_agent
            if answer is not None:
                number = source.number(item)
                await self._plates.hand_over(hold, answer, host=source.host, relayed=number)


def _process(told: Object) -> tuple[int, str]:
    return as_whole(told.get("pid")), as_text(told.get("proc_start"))


def _told(item: RelayItem, largest: int = _LARGEST_NOTE) -> Object:
    if len(item.body) > largest:
        return {}
    try:
        return as_object(json.loads(item.body))
    except (ValueError, RecursionError):
        return {}
