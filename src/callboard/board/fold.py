"""What an event makes of a plate. Pure: the event says when it happened.

The table in `transition` decides the status. Around it stand the rules that real clients need:
what is closed stays closed until a session starts; what comes late, or from a session that the
plate has left behind, tells something but moves nothing; and while a dialog is open, the plate
waits, whatever else goes on beside it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.board.plate import Pending, Plate, Todo
from callboard.board.transition import ASKS, MOVES, NEEDY, PLANS, Happening, Status, transition
from callboard.errors import StateNotSerializable
from callboard.events import plates
from callboard.events.codec import dump_json
from callboard.vendors.reports import Signal

LONGEST_TEXT: Final = 500
"""What a board shows of somebody's words. All of them are in the raw payload."""

_TURN_OVER: Final = frozenset(
    {
        plates.PROMPT_SUBMIT,
        plates.STOP,
        plates.STOP_FAILURE,
        plates.TURN_IDLE,
        plates.HEALTH_CHECK_RECOVERY,
    }
)
_OPENS_DIALOG: Final = frozenset({ASKS, PLANS})
"""Tools that are nothing but a dialog."""
_ENDS_CALL: Final = frozenset({plates.TOOL_START, plates.TOOL_CALL, plates.PERMISSION_RESOLVED})
_BETWEEN_TURNS: Final[frozenset[Status]] = frozenset({"idle", "error"})
_OVER: Final = frozenset({plates.SESSION_START, plates.SESSION_END, plates.PROCESS_EXIT})
_FINISHED: Final = frozenset({plates.STOP, plates.STOP_FAILURE})
_BY_PERSON: Final = frozenset({plates.PROMPT_SUBMIT, plates.TURN_IDLE, plates.SESSION_START})


@dataclass(frozen=True, slots=True)
class Moment:
    """When and in which of the client's sessions something happened.

    fresh: the plate has not had this session before. So it is the next one, whose start we
        missed, and not one that the plate has left behind.
    now_ms: what the clock says when it is heard.
    """

    at_ms: int
    session_id: str
    fresh: bool = False
    now_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A dialog that is over; `approved` where it is known how it was decided."""

    pending: Pending
    approved: bool | None


@dataclass(frozen=True, slots=True)
class Folded:
    """The plate after an event, and the dialogs that ended with it."""

    plate: Plate
    closed: tuple[Closed, ...] = ()


def apply(plate: Plate, signal: Signal, moment: Moment, asked: str | None = None) -> Folded:
    """The plate after a signal. `asked`: the interaction that a permission request became."""
    if _is_dropped(plate, signal, moment):
        return Folded(plate)
    is_next = moment.session_id != plate.session_id
    left = tuple(Closed(one, None) for one in plate.pending) if is_next else ()
    if is_next:
        plate = _in_next_session(plate, moment.session_id)
    if _begins(signal):
        plate = plate.having(dismissed=False)
    folded = _dialogs(_told(plate, signal), signal, moment, asked)
    is_late = not is_next and _is_late(moment, plate.status_at)
    moved = folded.plate if is_late else _moved(folded.plate, signal, moment)
    return Folded(moved, (*left, *folded.closed))


def _is_dropped(plate: Plate, signal: Signal, moment: Moment) -> bool:
    """Whether an event has nothing to say here any more.

    A session that started before the plate's own did is one that it has left behind, or has
    closed. Only while the plate is closed, the start of another session opens it: the end of the
    one before is told at the same time, and may be told with the later moment.
    """
    is_other = moment.session_id != plate.session_id
    is_late = _is_late(moment, plate.status_at)
    if _begins(signal):
        return is_late and is_other != (plate.status == "closed")
    if plate.status == "closed" or (is_other and not moment.fresh):
        return True
    return signal.name == plates.HEALTH_CHECK_RECOVERY and plate.status not in NEEDY


def _begins(signal: Signal) -> bool:
    return signal.name == plates.SESSION_START and not _in_subagent(signal)


def _is_late(moment: Moment, than: int) -> bool:
    """Whether something newer is known; what is newer than now comes from before a clock was set
    back, and nothing could ever come after it."""
    return moment.at_ms < than and (moment.now_ms is None or than <= moment.now_ms)


def _in_next_session(plate: Plate, session_id: str) -> Plate:
    """The same client with another session, which has asked, done and listed nothing so far."""
    return replace(
        plate,
        session_id=session_id,
        pending=(),
        todos=(),
        prompt=None,
        last_message=None,
        last_tool=None,
    )


def _moved(plate: Plate, signal: Signal, moment: Moment) -> Plate:
    details = signal.details
    happening = Happening(
        signal.name,
        tool=details.get("toolName"),
        has_error=bool(details.get("error")),
        subagent=_in_subagent(signal),
    )
    status = _while_asking(plate, transition(plate.status, happening))
    told: dict[str, Any] = {
        "updated_at": max(plate.updated_at, moment.at_ms),
        "last_event": signal.name,
        "unseen": _unseen(plate, signal, status),
    }
    if not happening.subagent and signal.name in MOVES:
        told |= {
            "status": status,
            "status_at": moment.at_ms,
            "interrupted": bool(details.get("interrupted")),
            "error": _clipped(details.get("error")) if status == "error" else None,
        }
    return plate.having(**told)


def _while_asking(plate: Plate, status: Status) -> Status:
    """While one of its dialogs is open, a plate that works beside it waits all the same."""
    own = [one for one in plate.pending if one.subagent is None]
    if status != "running" or not own:
        return status
    return transition(status, Happening(plates.PERMISSION_REQUEST, tool=own[0].tool))


def _unseen(plate: Plate, signal: Signal, status: Status) -> bool:
    """Whether something waits to be seen: what a person does at the terminal, that one saw."""
    if _in_subagent(signal) and signal.name != plates.PERMISSION_REQUEST:
        return plate.unseen
    if signal.name in _FINISHED or signal.name == plates.PERMISSION_REQUEST:
        return True
    if signal.name in _BY_PERSON and "origin" not in signal.details:
        return False
    if signal.name == plates.PERMISSION_RESOLVED:
        return bool(plate.pending)  # Whoever answered a dialog has seen it, but not the next one.
    if status != plate.status and status in ("awaiting_input", "awaiting_approval"):
        return True
    return plate.unseen


def _dialogs(plate: Plate, signal: Signal, moment: Moment, asked: str | None) -> Folded:
    """Open the dialog that a request tells of; close those that an event shows to be over."""
    tool = signal.details.get("toolName")
    if signal.name == plates.PERMISSION_REQUEST or (
        signal.name == plates.TOOL_START and tool in _OPENS_DIALOG
    ):
        # A turn that is over has no dialogs, also those that are told of only now.
        is_over = plate.status in _BETWEEN_TURNS and _is_late(moment, plate.status_at)
        return Folded(plate if is_over else _with_dialog(plate, signal, moment, asked))
    if "unheld" in signal.details:
        return _unheld(plate, signal.details["unheld"])
    over = [one for one in plate.pending if _is_over(one, signal, moment)]
    if signal.name == plates.TOOL_CALL and tool is not None:
        over = _nearest(over, signal)
    if not over:
        return Folded(plate)
    still = tuple(one for one in plate.pending if one not in over)
    approved = _approved(signal)
    return Folded(replace(plate, pending=still), tuple(Closed(one, approved) for one in over))


def _unheld(plate: Plate, id: str) -> Folded:
    """The question is over, and the dialog is not: only the terminal can answer it any more."""
    held = [one for one in plate.pending if one.id == id]
    dialogs = tuple(replace(one, id=None) if one.id == id else one for one in plate.pending)
    return Folded(replace(plate, pending=dialogs), tuple(Closed(one, None) for one in held))


def _with_dialog(plate: Plate, signal: Signal, moment: Moment, asked: str | None) -> Plate:
    details = signal.details
    tool = details.get("toolName") or ""
    opened = Pending(
        id=asked,
        tool=tool,
        call=_call(details),
        asks=_clipped(details.get("asks")) or tool,
        at=moment.at_ms,
        subagent=details.get("subagent"),
    )
    others = tuple(one for one in plate.pending if not _is_same(one, opened))
    if len(others) < len(plate.pending) and asked is None:
        return plate
    return replace(plate, pending=(*others, opened))


def _is_same(known: Pending, opened: Pending) -> bool:
    """Whether a dialog is told of again: by the start of its tool, or by a client that came back.

    The same call can be made twice at once; then each has an interaction of its own.
    """
    if known.id is not None and opened.id is not None:
        return known.id == opened.id
    return (known.tool, known.call, known.subagent) == (opened.tool, opened.call, opened.subagent)


def _is_over(pending: Pending, signal: Signal, moment: Moment) -> bool:
    if signal.name in _OVER:
        return not _in_subagent(signal)
    if "request" in signal.details:
        return pending.id == signal.details["request"]
    # What happened before a dialog opened does not close it, when it is told of afterwards.
    if _is_late(moment, pending.at):
        return False
    subagent = signal.details.get("subagent")
    if signal.name == plates.SUBAGENT_STOP:
        return subagent is not None and pending.subagent == subagent
    if pending.subagent != subagent:
        return signal.name == plates.STOP and _no_subagent_is_left(signal)
    if signal.name in _ENDS_CALL:
        return _is_meant(pending, signal)
    return signal.name in _TURN_OVER and "origin" not in signal.details


def _nearest(over: list[Pending], signal: Signal) -> list[Pending]:
    """The one dialog that a call had, where several could be meant."""
    call = _call(signal.details)
    return sorted(over, key=lambda one: one.call != call)[:1]


def _is_meant(pending: Pending, signal: Signal) -> bool:
    """Whether the dialog is the one for this call: a request does not tell the call's id.

    Who names no tool means all of them. A dialog that names no call is for whichever goes on.
    """
    details = signal.details
    if "call" in details:
        return pending.call == details["call"]
    if signal.name == plates.TOOL_START:
        return not pending.call
    if details.get("toolName") is None or not pending.call:
        return True
    if pending.tool != details["toolName"]:
        return False
    # A plan's input is gone once it is approved, and a question's is not quite the same.
    return pending.tool in _OPENS_DIALOG or pending.call == _call(details)


def _call(details: Mapping[str, Any]) -> str:
    """What tells one call of a tool from another; empty where nothing is told of it."""
    if "call" in details:
        return str(details["call"])
    if "toolInput" not in details:
        return ""
    given = details["toolInput"]
    if details.get("toolName") == ASKS and isinstance(given, Mapping):
        # Once it is answered, its answers stand beside its questions.
        given = cast("Mapping[str, Any]", given).get("questions")
    return fingerprint(given)


def fingerprint(input: Any) -> str:
    """What tells one input of a tool from another; the input itself may be megabytes.

    A client sends the same input in the same words each time, its keys in the same order.
    """
    try:
        told = dump_json(input)
    except StateNotSerializable:
        told = ascii(input).encode()
    return hashlib.sha256(told).hexdigest()[:16]


def _approved(signal: Signal) -> bool | None:
    """How the dialog was decided: a tool that ran was allowed."""
    if signal.name == plates.TOOL_CALL:
        return None if signal.details.get("toolName") is None else True
    told = signal.details.get("approved")
    return told if isinstance(told, bool) else None


def _told(plate: Plate, signal: Signal) -> Plate:
    """What an event tells beside the status, whenever it comes."""
    details = signal.details
    plate = _with_subagents(plate, signal)
    if "todos" in details or "todo" in details:
        plate = replace(plate, todos=_todos(plate.todos, details))
    return plate if _in_subagent(signal) else plate.having(**_facts(plate, signal))


def _facts(plate: Plate, signal: Signal) -> dict[str, Any]:
    """What an event of the session itself tells of it, by the plate's fields."""
    details = signal.details
    match signal.name:
        case plates.TOOL_START | plates.TOOL_CALL:
            return {"last_tool": details.get("toolName") or plate.last_tool}
        case plates.PROMPT_SUBMIT:
            return {"prompt": _clipped(details.get("prompt")) or plate.prompt}
        case plates.STOP:
            return {"last_message": _clipped(details.get("message")) or plate.last_message}
        case plates.SESSION_START:
            return {"subagents": (), "background": (), "ended": None}
        case plates.SESSION_END | plates.PROCESS_EXIT:
            ended = str(details.get("reason") or signal.name)
            return {"subagents": (), "background": (), "ended": ended}
        case _:
            return {}


def _with_subagents(plate: Plate, signal: Signal) -> Plate:
    """What goes on beside the session: its subagents, and its work in the background."""
    id = signal.details.get("subagent")
    if "background" in signal.details:
        plate = replace(plate, background=tuple(signal.details["background"]))
    if signal.name == plates.STOP and id is None and _no_subagent_is_left(signal):
        return replace(plate, subagents=())
    if not isinstance(id, str):
        return plate
    if signal.name == plates.SUBAGENT_START and id not in plate.subagents:
        return replace(plate, subagents=(*plate.subagents, id))
    if signal.name == plates.SUBAGENT_STOP:
        return replace(
            plate,
            subagents=tuple(one for one in plate.subagents if one != id),
            background=tuple(one for one in plate.background if one.get("id") != id),
        )
    return plate


def _no_subagent_is_left(signal: Signal) -> bool:
    """Whether a client that tells what goes on after its turn tells of no subagent.

    One that was interrupted ends without a word.
    """
    told = signal.details.get("background")
    return isinstance(told, list) and all(
        one.get("kind") != "subagent" for one in cast("list[Mapping[str, Any]]", told)
    )


def _in_subagent(signal: Signal) -> bool:
    return signal.details.get("subagent") is not None


def _todos(known: tuple[Todo, ...], details: Mapping[str, Any]) -> tuple[Todo, ...]:
    if "todos" in details:
        return tuple(_todo(one) for one in cast("list[Mapping[str, Any]]", details["todos"]))
    one = cast("Mapping[str, Any]", details["todo"])
    by_id = {todo.id: todo for todo in known}
    before = by_id.get(str(one["id"]))
    if one.get("status") == "deleted":
        by_id.pop(str(one["id"]), None)
    else:
        by_id[str(one["id"])] = _todo(one, before)
    return tuple(by_id.values())


def _todo(told: Mapping[str, Any], before: Todo | None = None) -> Todo:
    known = before or Todo("", "", "pending")
    return Todo(
        id=str(told.get("id", "")),
        text=_clipped(told.get("text")) or known.text,
        status=str(told.get("status") or known.status),
    )


def _clipped(text: Any) -> str | None:
    if not isinstance(text, str) or not text.strip():
        return None
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
