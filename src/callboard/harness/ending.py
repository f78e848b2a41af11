"""Judge how a session ended from what the agent left behind."""

import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callboard.display.lines import one_line
from callboard.events.envelope import Json
from callboard.events.json_values import Object
from callboard.harness.confirmation import KeptDecision
from callboard.harness.extraction.decision import extracted, last_response
from callboard.harness.pty import Exit
from callboard.vendors.claude.extraction import Spoken

AT_ONCE: Final = 5.0
"""Seconds. A session without activity that ends sooner has failed, not been left."""

_LEFT: Final = tuple(one for one in signal.Signals if one.name in ("SIGHUP", "SIGINT"))
_LONGEST_REASON: Final = 500
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")

Cut = Literal["timeout", "closed", "stopped"]
"""Why we ended the session: time was up, its terminal was closed, or we were told to stop."""

Unsure = Literal["read", "last", "unconfirmed"]
"""The decision was read from the conversation, or is the agent's last message where no form was
required, or was not confirmed in the agent's dialog.
"""


@dataclass(frozen=True, slots=True)
class SessionEnding:
    """What to record. unsure: why the person has to confirm it first.

    otherwise: what to record if they don't; None means that the session was left.
    """

    outcome: str
    response: Json = None
    error: str | None = None
    unsure: Unsure | None = None
    otherwise: "SessionEnding | None" = None


Confirm = Callable[[SessionEnding], Awaitable[bool]]
"""Asks the person about a decision that they didn't confirm in the agent's dialog."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a session went. duration: in seconds. cut: why we ended it, if we did.

    decision, proposal: as kept. confirmed: whether the person confirmed the decision.
    """

    exit: Exit
    duration: float
    cut: Cut | None
    said: Sequence[Spoken]
    decision: KeptDecision | None = None
    proposal: KeptDecision | None = None
    confirmed: bool = False


def judged(course: Course, prompt: str, config: Object) -> SessionEnding | None:
    """The session's end; None if it is left to others.

    A confirmed decision counts, however the session ended.
    """
    confirmed, unconfirmed = _confirmed(course), _unconfirmed(course)
    if confirmed is not None and (unconfirmed is None or course.cut is not None):
        return confirmed
    if course.cut == "timeout":
        return SessionEnding("timeout", error="The session timed out without a decision.")
    if course.cut == "stopped":
        return None
    if course.cut == "closed":
        return SessionEnding(
            "cancelled", error="The terminal was closed before a decision was made."
        )
    if unconfirmed is not None:
        asked = unconfirmed["decision"]
        return SessionEnding("completed", asked, unsure="unconfirmed", otherwise=confirmed)
    failure = _failure(course)
    if failure is not None:
        return SessionEnding("failed", error=failure)
    return _read(course, prompt, config)


def _read(course: Course, prompt: str, config: Object) -> SessionEnding:
    """What to ask a person who left without a decision."""
    found = extracted(course.said, prompt, config)
    if found is not None:
        return SessionEnding("completed", found, unsure="read")
    last = last_response(course.said) if config.get("outcomeSchema") is None else None
    if last is not None:
        return SessionEnding("completed", last, unsure="last")
    return SessionEnding("cancelled")


def _confirmed(course: Course) -> SessionEnding | None:
    if course.decision is None or not course.confirmed:
        return None
    return SessionEnding("completed", course.decision["decision"])


def _unconfirmed(course: Course) -> KeptDecision | None:
    """The last unconfirmed decision, about which the person still has to be asked."""
    if course.proposal is not None and not _was_refused_since(course.proposal, course.said):
        return course.proposal
    return None if course.confirmed else course.decision


def _was_refused_since(proposal: KeptDecision, said: Sequence[Spoken]) -> bool:
    """Whether the person was asked about it again, and said no."""
    calls = [
        index
        for index, one in enumerate(said)
        if one.kind == "call" and one.use == proposal["call"]
    ]
    return bool(calls) and any(one.kind == "refused" for one in said[calls[-1] :])


def _failure(course: Course) -> str | None:
    """What went wrong; None if the person simply left."""
    code = course.exit.code
    if code < 0 and -code not in _LEFT:
        name = signal.Signals(-code).name
        return _with_end(f"The agent was ended by {name}", course)
    if code > 0 and code not in (129, 130):
        return _with_end(f"The agent ended with exit code {code}", course)
    if not course.said and course.duration < AT_ONCE and code == 0:
        return _with_end("The agent exited before the session started", course)
    spoken = [one for one in course.said if one.kind in ("person", "agent", "error")]
    if spoken and spoken[-1].kind == "error":
        return f"The model could not be reached: {_short(spoken[-1].text)}"
    return None


def _with_end(sentence: str, course: Course) -> str:
    end = _short(_SEQUENCE.sub("", course.exit.end))
    return f"{sentence}. Its last message: {end}" if end else f"{sentence}."


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST_REASON else "…" + line[-_LONGEST_REASON:]
