"""Which call of a tool a request is about.

Pure. A request does not name its call. The start of the call does, and so does the outcome that
is found for the request. Equal calls made at once can be told apart only by these.
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

Asked = Pending | Unsettled
"""A request whose outcome is open: its dialog is there, or gone."""


def in_subagent(signal: Entry) -> bool:
    """Whether it happened inside a subagent."""
    return signal.payload.get("subagent") is not None


def name_call(plate: Plate, signal: Entry, at_ms: int) -> Plate:
    """The start of a call may be reported after the request that it led to: name its call."""
    told = plates.details(signal)
    use, call = told.get("toolUseId"), call_of(told)
    asked = [
        one
        for one in requests(plate)
        if (one.use, one.tool, one.call) == (None, told.get("toolName"), call)
        and at_ms <= one.at <= told.get("resultAt", one.at)
        and use not in one.others
    ]
    if use is None or not asked or in_subagent(signal):
        return plate
    meant = min(asked, key=lambda one: one.at)
    return _each(plate, lambda one: {"use": use} if one is meant else {})


def tell_apart(plate: Plate, signal: Entry) -> Plate:
    """A request turned out to be about this call: then no other request is.

    One that we took to be about it is about the call that we took for the first one's.
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


def requests(plate: Plate) -> tuple[Asked, ...]:
    """Every request of a plate whose outcome is open, oldest dialog last."""
    return (*plate.unsettled, *plate.pending)


def is_equal(one: Asked, other: Asked) -> bool:
    """Whether two requests are about the same call, made twice."""
    return (one.tool, one.call) == (other.tool, other.call)


def _each(plate: Plate, change: Callable[[Asked], Object]) -> Plate:
    return replace(
        plate,
        pending=tuple(replace(one, **change(one)) for one in plate.pending),
        unsettled=tuple(replace(one, **change(one)) for one in plate.unsettled),
    )


def call_of(details: PlateDetails) -> str:
    """What tells one call of a tool from another; empty where nothing is reported it."""
    if "call" in details:
        return details["call"]
    if "toolInput" not in details:
        return ""
    given = details["toolInput"]
    if details.get("toolName") == ASKS and is_mapping(given):
        # Once it is answered, its answers stand beside its questions.
        given = given.get("questions")
    return fingerprint(given)


def fingerprint(input: Json) -> str:
    """What tells one input of a tool from another; the input itself may be megabytes.

    A client sends the same input in the same words each time, its keys in the same order.
    """
    try:
        told = dump_json(input)
    except StateNotSerializable:
        told = ascii(input).encode()
    return hashlib.sha256(told).hexdigest()[:16]
