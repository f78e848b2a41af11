"""What a client's own files show about a request: its transcript, and its list of sessions.

An agent can write to both files. They only show what became of a request; they never approve
anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from callboard.board.calls import Asked, call_of, is_equal, requests, transcript_of
from callboard.board.plate import Pending, Plate, Unsettled
from callboard.events.payloads.plates import OutcomeKind, RequestOutcome
from callboard.interactions.evidenced import TERMINAL, Outcome
from callboard.vendors.claude.registry import Registered
from callboard.vendors.claude.transcript import CallResult, call_result, calls_of

RUNS_AFTER_MS: Final = 1500
"""A denial appears in the transcript within a fraction of this time.

A client that keeps working for longer without one is running the call.
"""
SILENT_AFTER_MS: Final = 2000
"""How long after a turn ends an outcome without evidence is inferred from what is known."""
FORGOTTEN_AFTER_MS: Final = 30_000
"""How long after a turn ends new evidence about its requests may still appear."""

_KINDS: Final[Mapping[bool | None, OutcomeKind]] = {
    True: "allowed",
    False: "denied",
    None: "dismissed",
}
_WORKING: Final = frozenset({"busy", "shell"})


@dataclass(frozen=True, slots=True)
class ShownOutcome:
    """An outcome, and whether it is final. use: the id of the call."""

    outcome: Outcome
    final: bool = False
    use: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A plate at one moment, as its client describes itself.

    worked_on: requests after whose dialog the client was seen working.
    """

    plate: Plate
    registered: Registered | None
    now_ms: int
    worked_on: frozenset[str] = frozenset()

    @property
    def is_over(self) -> bool:
        """Whether the client's turn is over."""
        return self.plate.status in ("idle", "error", "closed")

    def is_done(self, one: Unsettled) -> bool:
        """Whether the turn, or the subagent, that a request belongs to is over."""
        if one.subagent is None or self.plate.status == "closed":
            return self.is_over
        return one.subagent not in self.plate.subagents

    def quiet_ms(self, one: Unsettled) -> int:
        """How long nothing has happened since the dialog of a request closed."""
        return self.now_ms - max(one.closed_at, self.plate.status_at)

    def works_since(self, at_ms: int) -> bool:
        """Whether the client has been working since a dialog that opened then."""
        known = self.registered
        return known is not None and known.status in _WORKING and at_ms < known.changed_at


def is_running(look: Look, one: Asked) -> bool:
    """Whether the client is working on a call that has no result yet.

    What it does after its turn, or after the result, is something else.
    """
    if look.is_over or one.subagent is not None or not look.works_since(one.at):
        return False
    path = one.transcript if isinstance(one, Unsettled) else look.plate.transcript_path
    if path is None or look.plate.agent != "claude":
        return True
    use = _likely(look, one, path)
    return use is None or call_result(path, use) is None


def of_dialog(look: Look, dialog: Pending) -> ShownOutcome | None:
    """What is known about a dialog that seems to be open while its client keeps working."""
    path = transcript_of(look.plate, dialog)
    return _in_transcript(look, dialog, path) or _running(look, dialog, path, TERMINAL)


def of_unsettled(look: Look, one: Unsettled) -> ShownOutcome | None:
    """What is known about a request whose dialog is gone; None if there is nothing new."""
    shown = _in_transcript(look, one, one.transcript)
    if shown is not None:
        return shown
    if one.seen is not None:
        if look.is_done(one) and look.quiet_ms(one) >= FORGOTTEN_AFTER_MS:
            return ShownOutcome(Outcome("unknown", source="silence"), final=True)
        return None
    return _running_since_handed(look, one) or _from_silence(look, one)


def _in_transcript(look: Look, one: Asked, path: str | None) -> ShownOutcome | None:
    if path is None or look.plate.agent != "claude":
        return None
    use = _use(look, one, path)
    result = None if use is None else call_result(path, use)
    if result is None:
        return None
    worked = one.id in look.worked_on or getattr(one, "seen", None) == "allowed"
    return ShownOutcome(_outcome(result, worked), final=True, use=use)


def _use(look: Look, one: Asked, path: str) -> str | None:
    """The id of the call that a request is about; None while that is not known."""
    likely = _likely(look, one, path)
    twins = [
        other
        for other in requests(look.plate)
        if other.id != one.id and is_equal(other, one)
        if not (likely and _was_over(path, likely, other))
        if not (other.use and _was_over(path, other.use, one))
    ]
    if not twins:
        return likely
    named = _named(one, path)
    return _told_apart(one, path, [named] if named else _unnamed(look, one, path), twins)


def _likely(look: Look, one: Asked, path: str) -> str | None:
    """The call that a request is about, assuming that no equal one was made at the same time."""
    return _named(one, path) or next(iter(reversed(_unnamed(look, one, path))), None)


def _named(one: Asked, path: str) -> str | None:
    return one.use if one.use and not _was_over(path, one.use, one) else None


def _told_apart(one: Asked, path: str, uses: list[str], twins: list[Asked]) -> str | None:
    """The id of the call when the same one was made twice at once; None while it is ambiguous.

    Requests may come in a different order than their calls, and only our decisions differ: a result
    that a hook decided belongs to the request that was handed that decision.
    """
    swapped = [other.use for other in twins if other.use and not _fits(path, other.use, other)]
    return next((use for use in (*uses, *swapped) if _fits(path, use, one)), None)


def _fits(path: str, use: str, one: Asked) -> bool:
    """Whether a call's result can be the outcome of a request. A missing result fits any."""
    result = call_result(path, use)
    if result is None:
        return True
    handed = one.handed if isinstance(one, Unsettled) else None
    return handed == (_KINDS[result.allowed] if result.via == "hook" else None)


def _unnamed(look: Look, one: Asked, path: str) -> list[str]:
    """The calls that a request can be about, oldest first, if no hook named one.

    The same command may be called repeatedly, and each call has its own outcome.
    """
    taken = {other.use for other in requests(look.plate)}
    return [
        call.use
        for call in calls_of(path, one.tool)
        if call.at_ms is not None and call.at_ms <= one.at
        if call.use not in taken and call.use not in one.others
        if not _was_over(path, call.use, one)
        if call_of({"toolName": one.tool, "toolInput": call.input}) == one.call
    ]


def _was_over(path: str, use: str, one: Asked) -> bool:
    """Whether a call had its result before this request, which must be about another call."""
    at_ms = result_at("claude", path, use)
    return at_ms is not None and at_ms < one.at


def result_at(agent: str, path: str, use: str) -> int | None:
    """When the client wrote the result of a call; None if it hasn't, or doesn't say when."""
    result = call_result(path, use) if agent == "claude" else None
    return None if result is None else result.at_ms


def _outcome(result: CallResult, worked: bool) -> Outcome:
    if result.allowed is None and worked:
        # It was allowed, and interrupted while it ran.
        return Outcome("allowed", source="transcript")
    return Outcome(
        _KINDS[result.allowed], result.via, result.answers, result.message, source="transcript"
    )


def _running(look: Look, one: Asked, path: str | None, via: str | None) -> ShownOutcome | None:
    known = look.registered
    if known is None or not look.works_since(one.at):
        return None
    if look.now_ms < known.changed_at + RUNS_AFTER_MS or not _is_written(look, one, path):
        return None
    return ShownOutcome(Outcome("allowed", via, source="registry"))


def _is_written(look: Look, one: Asked, path: str | None) -> bool:
    """Whether the transcript has the call, so that a denial would be there, too.

    Some clients keep no transcript, or keep it where their hooks don't say.
    """
    if look.plate.agent != "claude":
        return True  # We read no other transcripts. After a denial, it would not keep working.
    if path is None:
        return False
    if one.use is None:
        return bool(_unnamed(look, one, path))
    return any(call.use == one.use for call in calls_of(path, one.tool))


def _running_since_handed(look: Look, one: Unsettled) -> ShownOutcome | None:
    # If anything else happened since, the client could be working on that.
    if not one.handed or one.subagent is not None or look.plate.status_at > one.closed_at:
        return None
    return _running(look, one, one.transcript, None)


def _from_silence(look: Look, one: Unsettled) -> ShownOutcome | None:
    """For a client without a transcript, or one that is gone: assume it has what it was given."""
    plate = look.plate
    if look.is_done(one) and look.quiet_ms(one) >= SILENT_AFTER_MS:
        has_it = one.handed and plate.status != "closed"
        return ShownOutcome(Outcome("presumed" if has_it else "lost", source="silence"))
    goes_on = plate.status != "closed" and plate.updated_at > one.closed_at
    shows_calls = plate.agent == "claude" and look.registered is not None
    if one.handed and not shows_calls and goes_on:
        return ShownOutcome(Outcome("presumed", source="silence"))
    return None


def details_of(shown: ShownOutcome) -> RequestOutcome:
    """An outcome as it appears in an event."""
    outcome = shown.outcome
    told: RequestOutcome = {"outcome": outcome.kind, "source": outcome.source}
    if outcome.via is not None:
        told["via"] = outcome.via
    if outcome.answers is not None:
        told["answers"] = dict(outcome.answers)
    if outcome.message is not None:
        told["message"] = outcome.message
    if shown.final:
        told["final"] = True
    if shown.use is not None:
        told["toolUseId"] = shown.use
    return told
