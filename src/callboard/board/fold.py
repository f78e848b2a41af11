"""How an event changes a plate. Pure: the event says when it happened.

The table in `transition` determines the status. The rules here are for real clients: a closed plate
stays closed until a session starts; an event that comes late, or from a session that the plate has
left, adds information but doesn't change the status; and while a dialog is open, the plate waits,
whatever else is running.
"""

from dataclasses import replace
from typing import Final

from callboard.board.dialogs import (
    Closed,
    Folded,
    Moment,
    dialogs,
    in_subagent,
    is_late,
    leave,
    no_subagent_is_left,
    outcomes,
)
from callboard.board.plate import Plate, Todo, clipped
from callboard.board.transition import MOVES, NEEDY, Happening, Status, transition
from callboard.events import plates
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import PlateDetails, TodoItem

_FINISHED: Final = frozenset({plates.STOP, plates.STOP_FAILURE})
_BY_PERSON: Final = frozenset({plates.PROMPT_SUBMIT, plates.TURN_IDLE, plates.SESSION_START})


def apply(plate: Plate, signal: Entry, moment: Moment, asked: str | None = None) -> Folded:
    """The plate after a signal. `asked`: the interaction for a permission request."""
    if _is_dropped(plate, signal, moment):
        # It no longer changes anything, but may still show what became of a request. The dialogs
        # that are open now belong to another session.
        shown = outcomes(replace(plate, pending=()), signal, moment)
        return replace(shown, plate=replace(shown.plate, pending=plate.pending))
    is_next = moment.session_id != plate.session_id
    left: tuple[Closed, ...] = ()
    if is_next:
        before = leave(plate, moment)
        plate, left = _in_next_session(before.plate, moment.session_id), before.closed
    if _begins(signal):
        plate = plate.having(dismissed=False)
    folded = dialogs(_told(plate, signal), signal, moment, asked)
    comes_late = not is_next and is_late(moment, plate.status_at)
    moved = folded.plate if comes_late else _moved(folded.plate, signal, moment)
    return Folded(moved, (*left, *folded.closed))


def _is_dropped(plate: Plate, signal: Entry, moment: Moment) -> bool:
    """Whether an event no longer matters here.

    A session that started before the plate's current one has been left or closed. Only while the
    plate is closed does the start of another session open it: the end of the previous one is
    reported at the same time, and may have the later timestamp.
    """
    is_other = moment.session_id != plate.session_id
    if _begins(signal):
        return is_late(moment, plate.status_at) and is_other != (plate.status == "closed")
    if plate.status == "closed" or (is_other and not moment.fresh):
        return True
    return signal.name == plates.HEALTH_CHECK_RECOVERY and plate.status not in NEEDY


def _begins(signal: Entry) -> bool:
    return signal.name == plates.SESSION_START and not in_subagent(signal)


def _in_next_session(plate: Plate, session_id: str) -> Plate:
    """The same client with a new session, which has not asked, done or listed anything yet."""
    return replace(
        plate,
        session_id=session_id,
        pending=(),
        todos=(),
        prompt=None,
        last_message=None,
        last_tool=None,
    )


def _moved(plate: Plate, signal: Entry, moment: Moment) -> Plate:
    details = plates.details(signal)
    happening = Happening(
        signal.name,
        tool=details.get("toolName"),
        has_error=bool(details.get("error")),
        subagent=in_subagent(signal),
    )
    status = _while_asking(plate, transition(plate.status, happening))
    told: dict[str, object] = {
        "updated_at": max(plate.updated_at, moment.at_ms),
        "last_event": signal.name,
        "unseen": _unseen(plate, signal, status),
    }
    if not happening.subagent and signal.name in MOVES:
        told |= {
            "status": status,
            # Handing over an answer is our action, and says nothing about the client.
            "status_at": plate.status_at if details.get("handed") else moment.at_ms,
            "interrupted": bool(details.get("interrupted")),
            "error": clipped(details.get("error")) if status == "error" else None,
        }
    return plate.having(**told)


def _while_asking(plate: Plate, status: Status) -> Status:
    """While one of its dialogs is open, a plate waits even if it also works on something."""
    own = [one for one in plate.pending if one.subagent is None]
    if status != "running" or not own:
        return status
    return transition(status, Happening(plates.PERMISSION_REQUEST, tool=own[0].tool))


def _unseen(plate: Plate, signal: Entry, status: Status) -> bool:
    """Whether there is something unseen; what a person does in the terminal, they have seen."""
    if in_subagent(signal) and signal.name != plates.PERMISSION_REQUEST:
        return plate.unseen
    if signal.name in _FINISHED or signal.name == plates.PERMISSION_REQUEST:
        return True
    if signal.name in _BY_PERSON and "origin" not in signal.payload:
        return False
    if signal.name == plates.PERMISSION_RESOLVED:
        return bool(plate.pending)  # Answering a dialog means it was seen, but not the next one.
    if status != plate.status and status in ("awaiting_input", "awaiting_approval"):
        return True
    return plate.unseen


def _told(plate: Plate, signal: Entry) -> Plate:
    """What an event says besides the status, no matter when it comes."""
    plate = _with_subagents(plate, signal)
    todos = _todos(plate.todos, plates.details(signal))
    if todos is not plate.todos:
        plate = replace(plate, todos=todos)
    return plate if in_subagent(signal) else plate.having(**_facts(plate, signal))


def _facts(plate: Plate, signal: Entry) -> dict[str, object]:
    """What an event of the session itself says about it, by fields of the plate."""
    details = plates.details(signal)
    match signal.name:
        case plates.TOOL_START | plates.TOOL_CALL:
            return {"last_tool": details.get("toolName") or plate.last_tool}
        case plates.PROMPT_SUBMIT:
            return {"prompt": clipped(details.get("prompt")) or plate.prompt}
        case plates.STOP:
            return {"last_message": clipped(details.get("message")) or plate.last_message}
        case plates.SESSION_START:
            return {"subagents": (), "background": (), "ended": None}
        case plates.SESSION_END | plates.PROCESS_EXIT:
            ended = str(details.get("reason") or signal.name)
            return {"subagents": (), "background": (), "ended": ended}
        case _:
            return {}


def _with_subagents(plate: Plate, signal: Entry) -> Plate:
    """What runs alongside the session: its subagents, and its background work."""
    details = plates.details(signal)
    id = details.get("subagent")
    if "background" in details:
        plate = replace(plate, background=tuple(details["background"]))
    if signal.name == plates.STOP and id is None and no_subagent_is_left(signal):
        return replace(plate, subagents=())
    if id is None:
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


def _todos(known: tuple[Todo, ...], details: PlateDetails) -> tuple[Todo, ...]:
    if "todos" in details:
        return tuple(_todo(one) for one in details["todos"])
    if "todo" not in details:
        return known
    one = details["todo"]
    by_id = {todo.id: todo for todo in known}
    if one.get("status") == "deleted":
        by_id.pop(one["id"], None)
    else:
        by_id[one["id"]] = _todo(one, by_id.get(one["id"]))
    return tuple(by_id.values())


def _todo(told: TodoItem, before: Todo | None = None) -> Todo:
    known = before or Todo("", "", "pending")
    return Todo(
        id=told["id"],
        text=clipped(told.get("text")) or known.text,
        status=told.get("status") or known.status,
    )
