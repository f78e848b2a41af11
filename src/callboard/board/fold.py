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
from callboard.board.transition import ASKS, PLANS, Happening, Status, transition
from callboard.events import plates
from callboard.events.codec import dump_json
from callboard.vendors.reports import Signal

LATE_MS: Final = 60_000
"""An event can be so much older than the last one and still be late; if it is older than that,
the clock was set back, and it is not the event that is wrong."""
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
_OVER: Final = frozenset({plates.SESSION_START, plates.SESSION_END, plates.PROCESS_EXIT})
_FINISHED: Final = frozenset({plates.STOP, plates.STOP_FAILURE})
_BY_PERSON: Final = frozenset({plates.PROMPT_SUBMIT, plates.TURN_IDLE, plates.SESSION_START})


@dataclass(frozen=True, slots=True)
class Moment:
    """When and in which of the client's sessions something happened.

    fresh: the plate has not had this session before. So it is the next one, whose start we
        missed, and not one that the plate has left behind.
    """

    at_ms: int
    session_id: str
    fresh: bool = False


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
    begins = signal.name == plates.SESSION_START
    if plate.status == "closed" and not begins:
        return Folded(plate)
    if moment.session_id != plate.session_id and not (begins or moment.fresh):
        return Folded(_told(plate, signal))
    plate = replace(plate, session_id=moment.session_id)
    if begins:
        plate = replace(plate, dismissed=False)
    folded = _dialogs(_told(plate, signal), signal, moment, asked)
    if moment.at_ms < plate.status_at <= moment.at_ms + LATE_MS:
        return folded
    return replace(folded, plate=_moved(folded.plate, signal, moment))


def _moved(plate: Plate, signal: Signal, moment: Moment) -> Plate:
    details = signal.details
    happening = Happening(
        signal.name,
        tool=details.get("toolName"),
        has_error=bool(details.get("error")),
        subagent=_in_subagent(signal),
    )
    status = _while_asking(plate, transition(plate.status, happening))
    moved = replace(
        plate,
        status=status,
        status_at=moment.at_ms,
        updated_at=max(plate.updated_at, moment.at_ms),
        last_event=signal.name,
        unseen=_unseen(plate, signal, status),
    )
    if happening.subagent:
        return moved
    return replace(
        moved,
        interrupted=bool(details.get("interrupted")),
        error=_clipped(details.get("error")) if status == "error" else None,
    )


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
    if signal.name in _BY_PERSON:
        return False
    if status != plate.status and status in ("awaiting_input", "awaiting_approval"):
        return True
    return plate.unseen


def _dialogs(plate: Plate, signal: Signal, moment: Moment, asked: str | None) -> Folded:
    """Open the dialog that a request tells of; close those that an event shows to be over."""
    subagent, tool = signal.details.get("subagent"), signal.details.get("toolName")
    if signal.name == plates.PERMISSION_REQUEST or (
        signal.name == plates.TOOL_START and tool in _OPENS_DIALOG
    ):
        return Folded(_with_dialog(plate, signal, moment, asked))
    over = [one for one in plate.pending if _is_over(one, signal, subagent)]
    if not over:
        return Folded(plate)
    open = tuple(one for one in plate.pending if one not in over)
    approved = _approved(signal)
    return Folded(replace(plate, pending=open), tuple(Closed(one, approved) for one in over))


def _with_dialog(plate: Plate, signal: Signal, moment: Moment, asked: str | None) -> Plate:
    details = signal.details
    tool = details.get("toolName") or ""
    opened = Pending(
        id=asked,
        tool=tool,
        call=fingerprint(details.get("toolInput")),
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


def _is_over(pending: Pending, signal: Signal, subagent: str | None) -> bool:
    if signal.name in _OVER:
        return True
    if signal.name == plates.PERMISSION_RESOLVED:
        return _is_meant(pending, signal)
    if signal.name == plates.TOOL_CALL:
        return pending.subagent == subagent and _is_meant(pending, signal)
    if signal.name == plates.SUBAGENT_STOP:
        return subagent is not None and pending.subagent == subagent
    return signal.name in _TURN_OVER and subagent is None and pending.subagent is None


def _is_meant(pending: Pending, signal: Signal) -> bool:
    """Whether the dialog is the one for this call: a request does not tell the call's id."""
    details = signal.details
    if "request" in details:
        return pending.id == details["request"]
    if pending.tool != details.get("toolName"):
        return False
    # A plan's input is gone once it is approved, and answers are added to a question's.
    if pending.tool in _OPENS_DIALOG:
        return True
    call = details.get("call") or fingerprint(details.get("toolInput"))
    return pending.call == call


def fingerprint(input: Any) -> str:
    """What tells one call of a tool from another; the input itself may be megabytes.

    A client sends the same input in the same words each time, its keys in the same order.
    """
    return hashlib.sha256(dump_json(input)).hexdigest()[:16]


def _approved(signal: Signal) -> bool | None:
    """How the dialog was decided: a tool that ran was allowed."""
    if signal.name == plates.TOOL_CALL:
        return True
    told = signal.details.get("approved")
    return told if isinstance(told, bool) else None


def _told(plate: Plate, signal: Signal) -> Plate:
    """What an event tells beside the status, whenever it comes."""
    plate = _with_subagents(plate, signal)
    details = signal.details
    if "todos" in details or "todo" in details:
        plate = replace(plate, todos=_todos(plate.todos, details))
    if "background" in details:
        plate = replace(plate, background=tuple(details["background"]))
    if _in_subagent(signal):
        return plate
    match signal.name:
        case plates.TOOL_START | plates.TOOL_CALL:
            return replace(plate, last_tool=details.get("toolName") or plate.last_tool)
        case plates.PROMPT_SUBMIT:
            return replace(plate, prompt=_clipped(details.get("prompt")) or plate.prompt)
        case plates.STOP:
            message = _clipped(details.get("message"))
            return replace(plate, last_message=message or plate.last_message)
        case plates.SESSION_START:
            return replace(plate, subagents=(), background=(), ended=None)
        case plates.SESSION_END | plates.PROCESS_EXIT:
            ended = str(details.get("reason") or signal.name)
            return replace(plate, subagents=(), background=(), ended=ended)
        case _:
            return plate


def _with_subagents(plate: Plate, signal: Signal) -> Plate:
    id = signal.details.get("subagent")
    if not isinstance(id, str):
        return plate
    if signal.name == plates.SUBAGENT_START and id not in plate.subagents:
        return replace(plate, subagents=(*plate.subagents, id))
    if signal.name == plates.SUBAGENT_STOP:
        return replace(plate, subagents=tuple(one for one in plate.subagents if one != id))
    return plate


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
