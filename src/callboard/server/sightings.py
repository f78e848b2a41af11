"""What a relay saw on its machine, as what happened to a plate. Pure.

It is checked like a hook's payload: any agent there could have written it.
"""

from collections.abc import Mapping
from typing import Final, get_args

from callboard.board.plate import Plate
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, as_text
from callboard.events.payloads.people import Source
from callboard.events.payloads.plates import OutcomeKind, RequestOutcome, SeenIn
from callboard.vendors.fields import text, word

_SEEN_IN: Final[Mapping[str, SeenIn]] = {one: one for one in get_args(SeenIn)}
_KINDS: Final[Mapping[str, OutcomeKind]] = {one: one for one in get_args(OutcomeKind)}
_SOURCES: Final[Mapping[str, Source]] = {
    "transcript": "transcript",
    "registry": "registry",
    "silence": "silence",
}
_ALWAYS: Final = frozenset({str(events.PERMISSION_SETTLED)})
"""What may be known about a plate after it closed."""


def signal_of(told: Object, plate: Plate) -> Entry | None:
    """What was seen, if it is about the plate as it is now; None otherwise."""
    if (plate.pid, plate.proc_start) != (told.get("pid"), told.get("start")):
        return None
    # What was seen about a status says nothing about a later one.
    if "statusAt" in told and told["statusAt"] != plate.status_at:
        return None
    found = _read(as_text(told.get("event")), as_object(told.get("payload")), plate)
    if found is None or (plate.status == "closed" and found.name not in _ALWAYS):
        return None
    return found


def _read(name: str, payload: Object, plate: Plate) -> Entry | None:
    seen_in = _SEEN_IN.get(as_text(payload.get("seenIn")))
    request = as_text(payload.get("request"))
    match name:
        case events.PROCESS_EXIT:
            return events.PROCESS_EXIT({})
        case events.TURN_IDLE if seen_in and payload.get("interrupted") is True:
            return events.TURN_IDLE({"interrupted": True, "seenIn": seen_in})
        case events.TURN_IDLE if seen_in:
            return events.TURN_IDLE({"seenIn": seen_in})
        case events.STOP if seen_in:
            return events.STOP({"seenIn": seen_in})
        case events.PERMISSION_RESOLVED if request and plate.dialog(request):
            return events.PERMISSION_RESOLVED({"request": request, **_outcome(payload)})
        case events.PERMISSION_SETTLED if plate.awaits_outcome_of(request):
            return events.PERMISSION_SETTLED({"request": request, **_outcome(payload)})
        case _:
            return None


def _outcome(payload: Object) -> RequestOutcome:
    told: RequestOutcome = {
        "outcome": _KINDS.get(as_text(payload.get("outcome")), "unknown"),
        "source": _SOURCES.get(as_text(payload.get("source")), "silence"),
    }
    if via := word(payload.get("via")):
        told["via"] = via
    if message := text(payload.get("message")):
        told["message"] = message
    answers = as_object(payload.get("answers")).items()
    if given := {key: said for key, one in answers if (said := text(one)) is not None}:
        told["answers"] = {**given}
    if payload.get("final") is True:
        told["final"] = True
    if use := word(payload.get("toolUseId")):
        told["toolUseId"] = use
    return told
