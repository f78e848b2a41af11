"""One event of a plate or a machine → changes to the rows of plates, messages and machines."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from callboard.events import messages, plates
from callboard.events.codec import dump_json
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_object
from callboard.events.payloads import messages as payloads
from callboard.events.payloads.plates import HostConnectedPayload, HostDisconnectedPayload
from callboard.events.rows import Cell, Change, Drop, Put, RowChange

Changes = list[RowChange]


def _json(value: Json) -> str | None:
    return None if value is None else dump_json(value).decode()


def _plate(payload: Mapping[str, Json], event: Event) -> Changes:
    """A plate's events contain their own row changes: only their writer knows everything."""
    told = as_object(payload.get("plate"))
    if not told:
        return []
    row = {_column(key): _cell(value) for key, value in told.items()}
    if "unsettled" in told:
        row["awaits_outcome"] = int(bool(told["unsettled"]))
    whole = "id" in row
    changes: Changes = [
        Put("plates", row) if whole else Change("plates", {"id": event.session_id}, row)
    ]
    if "session_id" in row:
        sessions = {"session_id": row["session_id"], "plate": event.session_id}
        changes.append(Put("plate_sessions", sessions))
    return changes


def _host_connected(payload: HostConnectedPayload, event: Event) -> Changes:
    row = {
        "id": payload["host"],
        "stream": event.session_id,
        "name": payload["name"],
        "version": payload["version"],
        "connected": 1,
        "seen_at": event.at_ms,
        "powers": _json(list(payload.get("powers", []))),
        "secret": payload.get("secret", ""),
        "contested_at": payload.get("contestedAt"),
    }
    return [Put("hosts", row)]


def _host_disconnected(payload: HostDisconnectedPayload, event: Event) -> Changes:
    values = {"connected": 0, "seen_at": payload["seenAt"]}
    return [Change("hosts", {"id": payload["host"]}, values)]


def _host_contested(payload: object, event: Event) -> Changes:
    return [Change("hosts", {"stream": event.session_id}, {"contested_at": event.at_ms})]


def _host_removed(payload: object, event: Event) -> Changes:
    return [Drop("hosts", {"stream": event.session_id})]


@lru_cache(maxsize=256)  # There are a few dozen, used by hundreds of events a second.
def _column(key: str) -> str:
    if key == "plateId":
        return "id"
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in key)


def _cell(value: Json) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return int(value) if isinstance(value, bool) else value
    return _json(value)


def _message(id: str, **values: Cell) -> Change:
    return Change("plate_messages", {"id": id}, values)


def _queued(payload: payloads.MessageQueuedPayload, event: Event) -> Changes:
    row: dict[str, Cell] = {
        "id": payload["id"],
        "plate": event.session_id,
        "text": payload["text"],
        "timing": payload["when"],
        "place": payload["place"],
        "created_at": event.at_ms,
        "written_by": payload.get("by"),
        "via": payload.get("via"),
    }
    return [Put("plate_messages", row)]


def _changed(payload: payloads.MessageChangedPayload, event: Event) -> Changes:
    told = {"text": payload.get("text"), "timing": payload.get("when")}
    return [_message(payload["id"], **{key: one for key, one in told.items() if one is not None})]


def _moved(payload: payloads.MessageMovedPayload, event: Event) -> Changes:
    return [_message(id, place=place) for id, place in payload["places"].items()]


def _withdrawn(payload: payloads.MessageWithdrawnPayload, event: Event) -> Changes:
    return [_message(payload["id"], status="withdrawn", note=None, closed_at=event.at_ms)]


def _handed(payload: payloads.MessageHandedPayload, event: Event) -> Changes:
    return [
        _message(
            payload["id"],
            status="handed",
            attempt=payload["attempt"],
            way=payload["way"],
            authority=int(payload["authority"]),
            session=payload["session"],
            pid=payload.get("pid"),
            proc_start=payload.get("procStart"),
            handed_at=event.at_ms,
            note=None,
        )
    ]


def _returned(payload: payloads.MessageReturnedPayload, event: Event) -> Changes:
    handover = ("way", "authority", "session", "pid", "proc_start", "handed_at")
    forgotten = dict.fromkeys((*handover, "delivered_at", "closed_at"))
    return [_message(payload["id"], status="queued", note=payload.get("note"), **forgotten)]


def _held(payload: payloads.MessageHeldPayload, event: Event) -> Changes:
    return [_message(payload["id"], status="held", note=payload.get("note"))]


def _delivered(payload: payloads.MessageDeliveredPayload, event: Event) -> Changes:
    at = payload.get("at", event.at_ms)
    way = {"way": payload["way"]} if "way" in payload else {}
    times = {"delivered_at": at, "closed_at": event.at_ms}
    return [_message(payload["id"], status="delivered", note=None, **times, **way)]


def _seen(payload: payloads.MessageSeenPayload, event: Event) -> Changes:
    return [_message(payload["id"], status="seen", seen_at=payload.get("at", event.at_ms))]


def _lost(payload: payloads.MessageLostPayload, event: Event) -> Changes:
    return [_message(payload["id"], status="lost", note=payload["reason"], closed_at=event.at_ms)]


HANDLERS: Final = dict(
    (
        messages.QUEUED.to(_queued),
        messages.CHANGED.to(_changed),
        messages.MOVED.to(_moved),
        messages.WITHDRAWN.to(_withdrawn),
        messages.HANDED.to(_handed),
        messages.RETURNED.to(_returned),
        messages.HELD.to(_held),
        messages.DELIVERED.to(_delivered),
        messages.SEEN.to(_seen),
        messages.LOST.to(_lost),
        plates.HOST_CONNECTED.to(_host_connected),
        plates.HOST_CONTESTED.to(_host_contested),
        plates.HOST_DISCONNECTED.to(_host_disconnected),
        plates.HOST_REMOVED.to(_host_removed),
    )
) | dict.fromkeys(plates.ALL, _plate)
