"""What a plate's last events tell of something that comes twice, or too late."""

from typing import Final

from callboard.board.evidence import result_at
from callboard.board.plate import Plate
from callboard.board.raw import call_of, kept
from callboard.events import plates
from callboard.events.envelope import Event
from callboard.log.protocol import EventLog
from callboard.vendors.reports import Report

_REMEMBERED: Final = 500
"""How many of a plate's last events are searched."""
_BOUNDARIES: Final = frozenset({plates.SESSION_START, plates.PROMPT_SUBMIT, plates.STOP})
"""No call goes on beyond these."""


def asks(report: Report) -> bool:
    """Whether a report tells that a dialog was opened."""
    return any(signal.name == plates.PERMISSION_REQUEST for signal in report.signals)


async def has_heard(log: EventLog, plate: Plate, report: Report) -> bool:
    """Whether this very payload, of this very moment, is among the plate's last events."""
    raw = kept(report.raw)
    return any(
        event.at_ms == report.at_ms and event.payload.get("raw") == raw
        for event in await _last(log, plate)
    )


async def was_decided(log: EventLog, plate: Plate, report: Report) -> bool:
    """Whether the call that a hook asks for was made meanwhile.

    So it is when no server ran: the dialog was answered in the terminal, what came of it lay in
    the spool, and the hook that still waits comes only now.
    """
    at_ms = report.at_ms
    if at_ms is None or at_ms >= plate.status_at:
        return False
    wanted = call_of(report.raw)
    return any(
        event.name == plates.TOOL_CALL
        and event.at_ms > at_ms
        and call_of(event.payload.get("raw")) == wanted
        for event in await _same(log, plate, report)
    )


async def use_of(log: EventLog, plate: Plate, report: Report) -> str | None:
    """The id of the call that a request is about: of the first such call in this turn about which
    nothing else was reported."""
    wanted = call_of(report.raw)
    if wanted is None:
        return None
    started: dict[str, None] = {}
    for event in await _same(log, plate, report):
        use = event.payload.get("toolUseId")
        if event.name in _BOUNDARIES:
            started.clear()
        elif event.name != plates.TOOL_START:
            started.pop(str(use), None)
        elif isinstance(use, str) and call_of(event.payload.get("raw")) == wanted:
            started[use] = None
    taken = {one.use for one in (*plate.pending, *plate.unsettled)}
    return next((use for use in started if use not in taken and not _is_over(report, use)), None)


def result_time(report: Report) -> int | None:
    """When the call that a report says to start had its result, if the report comes that late."""
    for signal in report.signals:
        use = signal.details.get("toolUseId")
        if signal.name == plates.TOOL_START and use is not None and report.transcript_path:
            return result_at(report.agent, report.transcript_path, use)
    return None


def _is_over(report: Report, use: str) -> bool:
    """Whether the client wrote the result of a call before it asked."""
    if report.transcript_path is None or report.at_ms is None:
        return False
    at_ms = result_at(report.agent, report.transcript_path, use)
    return at_ms is not None and at_ms < report.at_ms


async def _same(log: EventLog, plate: Plate, report: Report) -> list[Event]:
    """What the session did, or that subagent of it which reports: all may make the same calls."""
    who = next((signal.details.get("subagent") for signal in report.signals), None)
    return [event for event in await _last(log, plate) if event.payload.get("subagent") == who]


async def _last(log: EventLog, plate: Plate) -> list[Event]:
    head = await log.head(plate.plate_id)
    return await log.read(plate.plate_id, max(0, head - _REMEMBERED))
