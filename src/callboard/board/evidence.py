"""What a client's own files show about a request: its transcript, and its list of sessions.

An agent may write both files. They only say what became of a request; they release nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from callboard.board.dialogs import call_of
from callboard.board.plate import Pending, Plate, Unsettled
from callboard.interactions.settlement import TERMINAL, Outcome, OutcomeKind
from callboard.vendors.claude.registry import Registered
from callboard.vendors.claude.transcript import CallResult, call_result, calls_of

RUNS_AFTER_MS: Final = 1500
"""A refusal stands in the transcript within a fraction of this. A client that works on for so long
without one is running the call."""
SILENT_AFTER_MS: Final = 2000
"""How long after the end of a turn an outcome that nothing shows is decided by what is known."""
FORGOTTEN_AFTER_MS: Final = 30_000
"""How long after the end of a turn something more may still be learnt about its requests."""

_KINDS: Final[Mapping[bool | None, OutcomeKind]] = {
    True: "allowed",
    False: "denied",
    None: "dismissed",
}
_WORKING: Final = frozenset({"busy", "shell"})


@dataclass(frozen=True, slots=True)
class Shown:
    """An outcome, and whether it is the last word on a request. use: the id of the call."""

    outcome: Outcome
    final: bool = False
    use: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A plate at one moment, as its client describes itself.

    worked_on: the requests after whose dialog the client was seen at work.
    """

    plate: Plate
    registered: Registered | None
    now_ms: int
    worked_on: frozenset[str] = frozenset()

    def works_since(self, at_ms: int) -> bool:
        """Whether the client has been at work since a dialog that opened then."""
        known = self.registered
        return known is not None and known.status in _WORKING and at_ms < known.changed_at


def is_running(look: Look, one: Pending | Unsettled) -> bool:
    """Whether the client works on a call that has no result yet.

    What it does after its turn, or after the result, is something else.
    """
    in_turn = look.plate.status not in ("idle", "error", "closed")
    if not in_turn or not look.works_since(one.at):
        return False
    path = one.transcript if isinstance(one, Unsettled) else look.plate.transcript_path
    return _in_transcript(look, one, path) is None


def of_dialog(look: Look, dialog: Pending) -> Shown | None:
    """What is known about a dialog that we take to be open, while its client works on."""
    shown = _in_transcript(look, dialog, look.plate.transcript_path)
    return shown or _running(look, dialog, look.plate.transcript_path, TERMINAL)


def of_unsettled(look: Look, one: Unsettled) -> Shown | None:
    """What is known about a request whose dialog is gone; None for nothing new."""
    shown = _in_transcript(look, one, one.transcript)
    if shown is not None:
        return shown
    if _is_long_over(look, one):
        return Shown(Outcome("unknown", source="silence"), final=True)
    if one.seen is not None:
        return None
    return _running_since_handed(look, one) or _from_silence(look, one)


def _in_transcript(look: Look, one: Pending | Unsettled, path: str | None) -> Shown | None:
    if path is None or look.plate.agent != "claude":
        return None
    use = one.use if one.use and not _was_over(path, one.use, one) else _use_of(look, one, path)
    result = None if use is None else call_result(path, use)
    if result is None:
        return None
    worked = one.id in look.worked_on or getattr(one, "seen", None) == "allowed"
    return Shown(_outcome(result, worked), final=True, use=use)


def _use_of(look: Look, one: Pending | Unsettled, path: str) -> str | None:
    """The id of the call, where no hook said it: of the last such call before the request.

    The same command may be called again and again, and each has an outcome of its own.
    """
    taken = {other.use for other in (*look.plate.pending, *look.plate.unsettled)}
    made = [
        call.use
        for call in calls_of(path, one.tool)
        if call.at_ms is not None and call.at_ms <= one.at and call.use not in taken
        if not _was_over(path, call.use, one)
        if call_of({"toolName": one.tool, "toolInput": call.input}) == one.call
    ]
    return made[-1] if made else None


def _was_over(path: str, use: str, one: Pending | Unsettled) -> bool:
    """Whether a call had its result before this request was made, which is about another call."""
    at_ms = result_at("claude", path, use)
    return at_ms is not None and at_ms < one.at


def result_at(agent: str, path: str, use: str) -> int | None:
    """When the client wrote the result of a call; None when it has not, or does not say when."""
    result = call_result(path, use) if agent == "claude" else None
    return None if result is None else result.at_ms


def _outcome(result: CallResult, worked: bool) -> Outcome:
    if result.allowed is None and worked:
        # It was allowed, and interrupted while it ran.
        return Outcome("allowed", source="transcript")
    return Outcome(
        _KINDS[result.allowed], result.via, result.answers, result.message, source="transcript"
    )


def _running(
    look: Look, one: Pending | Unsettled, path: str | None, via: str | None
) -> Shown | None:
    known = look.registered
    if known is None or not look.works_since(one.at):
        return None
    if look.now_ms < known.changed_at + RUNS_AFTER_MS or not _is_written(look, one, path):
        return None
    return Shown(Outcome("allowed", via, source="registry"))


def _is_written(look: Look, one: Pending | Unsettled, path: str | None) -> bool:
    """Whether the transcript has the call, so that its refusal would be there too.

    Some clients keep no transcript, or keep it where their hooks do not say.
    """
    if path is None:
        return False
    if one.use is None:
        return _use_of(look, one, path) is not None
    return any(call.use == one.use for call in calls_of(path, one.tool))


def _running_since_handed(look: Look, one: Unsettled) -> Shown | None:
    # Anything else that happened since could be what the client works on now.
    if not one.handed or look.plate.status_at > one.closed_at:
        return None
    return _running(look, one, one.transcript, None)


def _from_silence(look: Look, one: Unsettled) -> Shown | None:
    """A client without a transcript, or one that is gone: what it was given, it has."""
    plate = look.plate
    is_over = plate.status in ("idle", "error", "closed")
    since = max(one.closed_at, plate.status_at)
    if is_over and look.now_ms >= since + SILENT_AFTER_MS:
        has_it = one.handed and plate.status != "closed"
        return Shown(Outcome("presumed" if has_it else "lost", source="silence"))
    goes_on = plate.status != "closed" and plate.updated_at > one.closed_at
    if one.handed and look.registered is None and goes_on:
        return Shown(Outcome("presumed", source="silence"))
    return None


def _is_long_over(look: Look, one: Unsettled) -> bool:
    is_over = look.plate.status in ("idle", "error", "closed")
    since = max(one.closed_at, look.plate.status_at)
    return is_over and one.seen is not None and look.now_ms >= since + FORGOTTEN_AFTER_MS
