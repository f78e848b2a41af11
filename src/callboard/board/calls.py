"""Which tool call a request is about.

Pure. A request doesn't name its call. The start of the call does, and so does the outcome that is
found for the request. Only these can tell apart equal calls that were made at once.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from callboard.board.plate import Pending, Plate, Unsettled
from callboard.board.transition import ASKS
from callboard.errors import StateNotSerializable
from callboard.events import plates
from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, is_mapping
from callboard.events.payloads.plates import PlateDetails
from callboard.vendors.claude.transcript import subagent_transcript

Asked = Pending | Unsettled
"""A request whose outcome is open, whether or not its dialog is still there."""


def in_subagent(signal: Entry) -> bool:
    """Whether it happened inside a subagent."""
    return signal.payload.get("subagent") is not None


def name_call(plate: Plate, signal: Entry, at_ms: int) -> Plate:
    """Name the call of a request, if its start is reported after the request it led to."""
    told = plates.details(signal)
    use, call = told.get("toolUseId"), call_of(told)
    asked = [
        one
        for one in requests(plate)
        if (one.use, one.tool, one.call) == (None, told.get("toolName"), call)
        and one.subagent == told.get("subagent")
        and at_ms <= one.at <= told.get("resultAt", one.at)
        and use not in one.others
    ]
    if use is None or not asked:
        return plate
    meant = min(asked, key=lambda one: one.at)
    return _each(plate, lambda one: {"use": use} if one is meant else {})


def tell_apart(plate: Plate, signal: Entry) -> Plate:
    """A request turned out to be about this call, so no other request is.

    A request that seemed to be about it is about the call that seemed to be the first one's.
    """
    id, use = plates.details(signal).get("request"), plates.details(signal).get("toolUseId")
    meant = next((one for one in requests(plate) if one.id == id), None)
    if id is None or use is None or meant is None:
        return plate

    def corrected(one: Asked) -> Object:
        if one is meant:
            return {"use": use}
        if not is_equal(one, meant):
            return {}
        return {"use": meant.use if one.use == use else one.use, "others": (*one.others, use)}

    return _each(plate, corrected)


def transcript_of(plate: Plate, one: Pending) -> str | None:
    """Where the outcome of a request will appear: a subagent has its own transcript."""
    path = plate.transcript_path
    if path is None or one.subagent is None:
        return path
    return subagent_transcript(path, one.subagent) if plate.agent == "claude" else None


def requests(plate: Plate) -> tuple[Asked, ...]:
    """Every request of a plate whose outcome is open, oldest dialog last."""
    return (*plate.unsettled, *plate.pending)


def is_equal(one: Asked, other: Asked) -> bool:
    """Whether two requests are about the same call, made twice."""
    return (one.tool, one.call, one.subagent) == (other.tool, other.call, other.subagent)


def _each(plate: Plate, change: Callable[[Asked], Object]) -> Plate:
    return replace(
        plate,
        pending=tuple(replace(one, **change(one)) for one in plate.pending),
        unsettled=tuple(replace(one, **change(one)) for one in plate.unsettled),
    )


def call_of(details: PlateDetails) -> str:
    """Identifies a call of a tool by its input; empty if the input is not reported."""
    if "call" in details:
        return details["call"]
    if "toolInput" not in details:
        return ""
    given = details["toolInput"]
    if details.get("toolName") == ASKS and is_mapping(given):
        # Once it is answered, its input has the answers, too.
        given = given.get("questions")
    return fingerprint(given)


def fingerprint(input: Json) -> str:
    """Identifies an input of a tool, which itself may be megabytes.

    A client sends the same input in the same form each time, with its keys in the same order.
    """
    try:
        told = dump_json(input)
    except StateNotSerializable:
        told = ascii(input).encode()
    return hashlib.sha256(told).hexdigest()[:16]
