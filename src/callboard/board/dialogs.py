"""The dialogs in an agent's terminal: which are open, and what became of the others.

Pure. A request opens a dialog. Later events show that it is gone, and some of them also show what
was decided. Until the client itself has confirmed that, the request stays in the plate's
`unsettled`, so that later evidence still finds its question.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, get_args

from callboard.board.calls import (
    call_of,
    fingerprint,
    in_subagent,
    name_call,
    tell_apart,
    transcript_of,
)
from callboard.board.plate import Pending, Plate, Unsettled, clipped
from callboard.board.transition import ASKS, PLANS, Status
from callboard.events import plates
from callboard.events.event_name import Entry
from callboard.events.json_values import Object
from callboard.events.payloads.plates import OutcomeKind, PlateDetails, RequestOutcome
from callboard.interactions.edited_input import edited_of
from callboard.interactions.evidenced import Outcome

MOST_UNSETTLED: Final = 50
"""How many requests of a plate can wait for their outcome; the oldest are dropped."""

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
"""Tools that only open a dialog."""
_ENDS_CALL: Final = frozenset({plates.TOOL_START, plates.TOOL_CALL, plates.PERMISSION_RESOLVED})
_SHOWS_OUTCOME: Final = frozenset(
    {plates.TOOL_CALL, plates.PERMISSION_RESOLVED, plates.PERMISSION_SETTLED}
)
_SHOWS_LATER: Final = "claude"
"""The agent that shows a subagent's dialog once its hook has ended without a decision."""
_BETWEEN_TURNS: Final[frozenset[Status]] = frozenset({"idle", "error"})
_OVER: Final = frozenset({plates.SESSION_START, plates.SESSION_END, plates.PROCESS_EXIT})
_UNKNOWN: Final = Outcome("unknown")
_KINDS: Final[Mapping[str, OutcomeKind]] = {kind: kind for kind in get_args(OutcomeKind)}


@dataclass(frozen=True, slots=True)
class Moment:
    """When, and in which of the client's sessions, something happened.

    fresh: the plate has not had this session before. So it is the next one, whose start was missed,
    and not one that the plate has left.
    now_ms: the time when it is received.
    """

    at_ms: int
    session_id: str
    fresh: bool = False
    now_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A question whose dialog is gone, or about which more is known now."""

    id: str
    tool: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Folded:
    """The plate after an event, and the questions that it says something about."""

    plate: Plate
    closed: tuple[Closed, ...] = ()


def is_late(moment: Moment, than: int) -> bool:
    """Whether something newer is known.

    A time later than now is from before a clock was set back, and nothing could ever come after it.
    """
    return moment.at_ms < than and (moment.now_ms is None or than <= moment.now_ms)


def no_subagent_is_left(signal: Entry) -> bool:
    """Whether a client that lists what continues after its turn lists no subagent.

    A subagent that was interrupted ends without a report.
    """
    told = plates.details(signal).get("background")
    return told is not None and all(one["kind"] != "subagent" for one in told)


def dialogs(plate: Plate, signal: Entry, moment: Moment, asked: str | None) -> Folded:
    """Open the dialog that a request reports; close those that an event shows to be gone."""
    details = plates.details(signal)
    tool = details.get("toolName")
    if signal.name == plates.TOOL_START:
        plate = name_call(plate, signal, moment.at_ms)
    if signal.name == plates.PERMISSION_REQUEST or (
        signal.name == plates.TOOL_START and tool in _OPENS_DIALOG
    ):
        # A turn that has ended has no dialogs, not even ones that are reported only now.
        is_over = plate.status in _BETWEEN_TURNS and is_late(moment, plate.status_at)
        return Folded(plate if is_over else _with_dialog(plate, signal, moment, asked))
    if "unheld" in details:
        return _unheld(plate, details["unheld"], moment)
    if handed := details.get("handed"):
        given = {"handed": handed, "edited": details.get("edited")}
        return Folded(_handed(plate, details.get("request"), given, moment))
    plate = tell_apart(plate, signal)
    over = [one for one in plate.pending if _is_over(one, signal, moment)]
    if signal.name == plates.TOOL_CALL and tool is not None:
        over = _nearest(over, signal)
    shown = (
        outcomes(plate, signal, moment) if all(one.id is None for one in over) else Folded(plate)
    )
    closed = _close(shown.plate, over, _outcome(signal), moment, _is_final(signal))
    return Folded(closed.plate, (*shown.closed, *closed.closed))


def dismissed(plate: Plate, request: str) -> Entry | None:
    """What to record when the hook of a request is gone: its dialog was dismissed."""
    pending = plate.dialog(request)
    if pending is None:
        return None
    others = [one for one in plate.pending if one.id not in (None, request)]
    if pending.subagent is not None and plate.agent == _SHOWS_LATER:
        # Its time was up: the client shows the dialog now. If it was left, the subagent ends.
        return plates.HOOK_HEARD({"hook": "", "unheld": request})
    if pending.subagent is not None or others:
        # The turn continues: the other dialogs have their own hooks.
        return plates.PERMISSION_RESOLVED({"request": request, "outcome": "unknown"})
    return plates.TURN_IDLE({"interrupted": True})


def let_wait(plate: Plate, request: str) -> Entry | None:
    """What to record when the hook of a request is gone, and its dialog is still open."""
    if plate.dialog(request) is None:
        return None
    return plates.HOOK_HEARD({"hook": "", "unheld": request})


def handed_over(plate: Plate, request: str, answer: Object) -> Entry | None:
    """What to record when the hook of a request gets its answer."""
    told: RequestOutcome = {
        "request": request,
        "handed": "denied" if answer.get("approved") is False else "allowed",
    }
    if (edited := edited_of(answer)) is not None:
        told["edited"] = fingerprint(edited)
    if plate.dialog(request) is not None:
        return plates.PERMISSION_RESOLVED({**told})
    if plate.awaits_outcome_of(request):
        return plates.PERMISSION_SETTLED({**told})
    return None


def leave(plate: Plate, moment: Moment) -> Folded:
    """The client has another session now: the dialogs of the previous one are gone."""
    return _close(plate, list(plate.pending), _UNKNOWN, moment)


def outcomes(plate: Plate, signal: Entry, moment: Moment) -> Folded:
    """What an event shows about requests whose dialog was already gone, even past their session."""
    if signal.name not in _SHOWS_OUTCOME or not plate.unsettled:
        return Folded(plate)
    plate = tell_apart(plate, signal)
    asked = [one for one in plate.unsettled if _is_about(one, signal, moment)]
    if not asked:
        return Folded(plate)
    # The same call may have been denied earlier and made again: the last request led to this.
    use = plates.details(signal).get("toolUseId")
    meant = max(asked, key=lambda one: (use is not None and one.use == use, one.at))
    outcome = _outcome(signal)
    kept = () if _is_final(signal) else (replace(meant, seen=outcome.kind),)
    unsettled = tuple(
        one for other in plate.unsettled for one in (kept if other is meant else (other,))
    )
    return Folded(replace(plate, unsettled=unsettled), (Closed(meant.id, meant.tool, outcome),))


def _close(
    plate: Plate, over: list[Pending], outcome: Outcome, moment: Moment, final: bool = False
) -> Folded:
    """Close dialogs. Their requests wait for their outcome, unless this one is final."""
    if not over:
        return Folded(plate)
    seen = None if outcome.kind == "unknown" else outcome.kind
    left = () if final else tuple(_left(plate, one, moment, seen) for one in over if one.id)
    still = tuple(one for one in plate.pending if one not in over)
    unsettled = (*plate.unsettled, *left)[-MOST_UNSETTLED:]
    closed = tuple(Closed(one.id, one.tool, outcome) for one in over if one.id)
    return Folded(replace(plate, pending=still, unsettled=unsettled), closed)


def _left(plate: Plate, one: Pending, moment: Moment, seen: str | None = None) -> Unsettled:
    return Unsettled(
        id=one.id or "",
        tool=one.tool,
        call=one.call,
        at=one.at,
        closed_at=moment.now_ms or moment.at_ms,
        use=one.use,
        others=one.others,
        transcript=transcript_of(plate, one),
        seen=seen,
        subagent=one.subagent,
    )


def _handed(plate: Plate, id: str | None, given: Object, moment: Moment) -> Plate:
    """The hook has our decision: the dialog is gone, and the client will show what it did."""
    known = any(one.id == id for one in plate.unsettled)
    left = [_left(plate, one, moment) for one in plate.pending if one.id == id and not known]
    unsettled = (*plate.unsettled, *left)[-MOST_UNSETTLED:]
    return replace(
        plate,
        pending=tuple(one for one in plate.pending if one.id != id),
        unsettled=tuple(replace(one, **given) if one.id == id else one for one in unsettled),
    )


def _unheld(plate: Plate, id: str, moment: Moment) -> Folded:
    """The question is closed, but the dialog is not: now only the terminal can answer it."""
    held = [one for one in plate.pending if one.id == id]
    closed = _close(plate, held, _UNKNOWN, moment)
    still = tuple(replace(one, id=None) if one.id == id else one for one in plate.pending)
    return Folded(replace(closed.plate, pending=still), closed.closed)


def _with_dialog(plate: Plate, signal: Entry, moment: Moment, asked: str | None) -> Plate:
    details = plates.details(signal)
    tool = details.get("toolName") or ""
    opened = Pending(
        id=asked,
        tool=tool,
        call=call_of(details),
        asks=clipped(details.get("asks")) or tool,
        at=moment.at_ms,
        subagent=details.get("subagent"),
        use=details.get("toolUseId"),
    )
    same = [one for one in plate.pending if _is_same(one, opened)]
    if same and asked is None:
        return plate
    if same and opened.use is None:
        opened = replace(opened, use=same[0].use, others=same[0].others)
    return replace(plate, pending=(*(one for one in plate.pending if one not in same), opened))


def _is_same(known: Pending, opened: Pending) -> bool:
    """Whether a dialog is reported again: by its tool's start, or by a client that came back.

    The same call can be made twice at once; then each has its own interaction.
    """
    if known.id is not None and opened.id is not None:
        return known.id == opened.id
    return (known.tool, known.call, known.subagent) == (opened.tool, opened.call, opened.subagent)


def _is_over(pending: Pending, signal: Entry, moment: Moment) -> bool:
    details = plates.details(signal)
    if "request" in details:
        return pending.id == details["request"]
    # What happened before a dialog opened doesn't close it, even if it is reported later.
    if is_late(moment, pending.at):
        return False
    if signal.name in _OVER:
        return not in_subagent(signal)
    subagent = details.get("subagent")
    if signal.name == plates.SUBAGENT_STOP:
        return subagent is not None and pending.subagent == subagent
    if pending.subagent != subagent:
        return signal.name == plates.STOP and no_subagent_is_left(signal)
    if signal.name in _ENDS_CALL:
        return _is_meant(pending, signal)
    return signal.name in _TURN_OVER and "origin" not in details


def _nearest(over: list[Pending], signal: Entry) -> list[Pending]:
    """The one dialog for a call, if there are several candidates."""
    details = plates.details(signal)
    call, use = call_of(details), details.get("toolUseId")
    return sorted(over, key=lambda one: (one.use != use, one.call != call))[:1]


def _is_meant(pending: Pending, signal: Entry) -> bool:
    """Whether the dialog is the one for this call: not every client reports the call's id.

    An event without a tool applies to all of them. A dialog without a call is for any that
    continues.
    """
    details = plates.details(signal)
    if "call" in details:
        return pending.call == details["call"] and not _is_other_call(pending, signal)
    if signal.name == plates.TOOL_START:
        return not pending.call
    tool, use = details.get("toolName"), details.get("toolUseId")
    if pending.use is not None and use is not None:
        return pending.use == use
    if tool is None or not pending.call:
        return True
    if pending.tool != tool:
        return False
    # A plan's input is gone once it is approved, and a question's is slightly different.
    return pending.tool in _OPENS_DIALOG or pending.call == call_of(details)


def _is_about(one: Unsettled, signal: Entry, moment: Moment) -> bool:
    """Whether an event is about this request, by its id or by that of its call."""
    details = plates.details(signal)
    if "request" in details:
        return one.id == details["request"]
    # The same call may have been made before.
    if details.get("subagent") != one.subagent or is_late(moment, one.at):
        return False
    if "call" in details:
        return one.call == details["call"] and not _is_other_call(one, signal)
    if signal.name != plates.TOOL_CALL or details.get("toolName") != one.tool:
        return False
    use = details.get("toolUseId")
    if one.use is not None and use is not None:
        return one.use == use
    return one.tool in _OPENS_DIALOG or call_of(details) in (one.call, one.edited)


def _is_other_call(one: Pending | Unsettled, signal: Entry) -> bool:
    """Whether the client's own ids say that an event is about another call of the same kind."""
    use = plates.details(signal).get("toolUseId")
    return use is not None and one.use is not None and one.use != use


def _outcome(signal: Entry) -> Outcome:
    """What an event shows about a request: a tool that ran was allowed."""
    details = plates.details(signal)
    if signal.name == plates.TOOL_CALL:
        if details.get("toolName") is None:
            return _UNKNOWN
        ran = details.get("toolInput")
        return Outcome("allowed", answers=details.get("answers"), ran=ran)
    if signal.name not in _SHOWS_OUTCOME:
        return _UNKNOWN
    return Outcome(
        kind=_kind(details),
        via=details.get("via"),
        answers=details.get("answers"),
        message=details.get("message"),
        source=details.get("source") or "hook",
    )


def _kind(details: PlateDetails) -> OutcomeKind:
    if "outcome" in details:
        return _KINDS.get(str(details["outcome"]), "unknown")
    match details.get("approved"):
        case True:
            return "allowed"
        case False:
            return "denied"
        case _:
            return "presumed"


def _is_final(signal: Entry) -> bool:
    return plates.details(signal).get("final") is True
