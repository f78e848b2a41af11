"""What a plate's last events show: payloads that are repeated or late, and a lost plan."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Final

from callboard.board.evidence import result_at
from callboard.board.plate import Plate
from callboard.board.transition import PLANS
from callboard.errors import StateNotSerializable
from callboard.events import plates
from callboard.events.codec import dump_json
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_object, as_text
from callboard.log.protocol import EventLog
from callboard.vendors.fields import in_words
from callboard.vendors.reports import Report

LARGEST: Final = 32 * 1024
KEPT: Final = 8 * 1024
_AFTERWARDS: Final = (plates.HOOK_HEARD({"hook": "PermissionRequest"}),)
"""What remains of a request that was decided before it was reported."""
_REMEMBERED: Final = 500
"""How many of a plate's last events to search."""
_BOUNDARIES: Final = frozenset({plates.SESSION_START, plates.PROMPT_SUBMIT, plates.STOP})
"""No call continues beyond these."""
_GOES_ON: Final = frozenset({plates.TOOL_START, plates.PROMPT_SUBMIT, plates.SESSION_START})
"""After one of these, the agent has continued with the plan, or with something else."""


def kept(raw: Json) -> Json:
    """The payload, or `{truncated, text}` if it is huge or can't be JSON."""
    if raw is None:
        return None
    try:
        data = dump_json(raw)
    except StateNotSerializable:
        return _beginning(in_words(raw, KEPT))
    if len(data) <= LARGEST:
        return raw
    text = raw if isinstance(raw, str) else data[: 4 * KEPT].decode(errors="ignore")
    return _beginning(text) | {"bytes": len(data)}


def call_of(raw: Json) -> tuple[Json, Json] | None:
    """The tool and the input that a payload is about; None if it doesn't say."""
    told = as_object(raw)
    return (told.get("tool_name"), told["tool_input"]) if "tool_input" in told else None


def _beginning(text: str) -> dict[str, Json]:
    # The cut may split a surrogate pair; ASCII has none.
    return {"truncated": True, "text": ascii(text[:KEPT])[1:-1]}


def asks(report: Report) -> bool:
    """Whether a report says that a dialog was opened."""
    return any(signal.name == plates.PERMISSION_REQUEST for signal in report.signals)


async def heard_before(log: EventLog, plate: Plate, reports: Sequence[Report]) -> list[Report]:
    """The reports that are already among the plate's last events, with the very same time."""
    last = [(event.at_ms, event.payload.get("raw")) for event in await _last(log, plate)]
    return [report for report in reports if (report.at_ms, kept(report.raw)) in last]


async def as_new(log: EventLog, plate: Plate, report: Report, now_ms: int) -> Report:
    """A request, without what is already known about it."""
    if await _was_decided(log, plate, report):
        return replace(report, hold=None, request=None, signals=_AFTERWARDS)
    if report.hold is None and report.delivery is None:
        return report  # Without an id, the same bytes may be another request.
    return replace(report, known=await _was_told(log, plate, report, now_ms))


async def _was_decided(log: EventLog, plate: Plate, report: Report) -> bool:
    """Whether the call that a hook asks about has already been made.

    That happens when no server was running: the dialog was answered in the terminal, the result was
    spooled, and the hook that still waits arrives only now.
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


async def _was_told(log: EventLog, plate: Plate, report: Report, now_ms: int) -> bool:
    """Whether a hook that asks has left the same request in the spool before.

    It does so when it has found no server for a while. Both are the same to the byte. Of a large
    one, only the start is recorded, which doesn't name its question, so its time has to match.
    """
    at_ms = report.at_ms
    if at_ms is None or plate.updated_at < at_ms <= now_ms:
        return False
    raw = kept(report.raw)
    return any(
        event.name == plates.PERMISSION_REQUEST
        and event.payload.get("raw") == raw
        and (event.at_ms == at_ms or raw is report.raw)
        for event in await _last(log, plate)
    )


async def with_call(log: EventLog, plate: Plate, report: Report) -> Report:
    """A request with the id of its call; the start of a call with the time of its result."""
    if report.hold is not None and asks(report):
        use = await _use_of(log, plate, report)
        return report if use is None else report.having({"toolUseId": use})
    if any(one.use is None for one in (*plate.pending, *plate.unsettled)):
        over_at = _result_time(report)
        return report if over_at is None else report.having({"resultAt": over_at})
    return report


async def _use_of(log: EventLog, plate: Plate, report: Report) -> str | None:
    """The id of the call that a request is about.

    That is the first such call in this turn about which nothing else was reported.
    """
    wanted = call_of(report.raw)
    if wanted is None:
        return None
    started: dict[str, None] = {}
    for event in await _same(log, plate, report):
        use = plates.details(event).get("toolUseId", "")
        if event.name in _BOUNDARIES:
            started.clear()
        elif event.name != plates.TOOL_START:
            started.pop(use, None)
        elif use and call_of(event.payload.get("raw")) == wanted:
            started[use] = None
    taken = {one.use for one in (*plate.pending, *plate.unsettled)}
    return next((use for use in started if use not in taken and not _is_over(report, use)), None)


def _result_time(report: Report) -> int | None:
    """When the call that a report starts had its result, if the report comes that late."""
    for signal in report.signals:
        told = plates.TOOL_START.of(signal)
        if told is not None and "toolUseId" in told and _has_transcript(report):
            assert report.transcript_path is not None
            return result_at(report.agent, report.transcript_path, told["toolUseId"])
    return None


def _has_transcript(report: Report) -> bool:
    """Whether its transcript can be read here. The path of another host names another file."""
    return bool(report.transcript_path) and report.relayed is None


def _is_over(report: Report, use: str) -> bool:
    """Whether the client wrote the result of a call before this request."""
    if report.transcript_path is None or report.at_ms is None or not _has_transcript(report):
        return False
    at_ms = result_at(report.agent, report.transcript_path, use)
    return at_ms is not None and at_ms < report.at_ms


async def _same(log: EventLog, plate: Plate, report: Report) -> list[Event]:
    """The events of the session, or of the reporting subagent: all may make the same calls."""
    who = next((signal.payload.get("subagent") for signal in report.signals), None)
    return [event for event in await _last(log, plate) if event.payload.get("subagent") == who]


async def _last(log: EventLog, plate: Plate) -> list[Event]:
    head = await log.head(plate.plate_id)
    return await log.read(plate.plate_id, max(0, head - _REMEMBERED))


async def lost_plan(log: EventLog, plate: Plate) -> str | None:
    """The plan that a client lost by clearing its context right after it was approved."""
    return _plan_lost_in(await _last(log, plate))


def _plan_lost_in(events: Sequence[Event]) -> str | None:
    """The plan approved right before the last session in these events started, if there is one.

    The next session finds none, because the one before it did nothing with the plan. So a plan is
    given back only once.
    """
    latest_first = dropwhile(lambda one: one.name != plates.SESSION_START, reversed(events))
    next(latest_first, None)
    for event in latest_first:
        if "subagent" in event.payload:
            continue
        if event.name == plates.TOOL_CALL and "toolName" in event.payload:
            return _plan(event)
        if event.name in _GOES_ON:
            return None
    return None


def _plan(event: Event) -> str | None:
    """The approved plan: the client reports that its tool ran only if it was approved."""
    if event.payload["toolName"] != PLANS or "failure" in event.payload:
        return None
    raw = as_object(event.payload.get("raw"))
    told = as_object(raw.get("tool_response")).get("plan")
    return as_text(told or as_object(raw.get("tool_input")).get("plan")).strip() or None
