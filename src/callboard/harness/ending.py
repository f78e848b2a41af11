"""How a session ended: judged from what the agent left behind."""

import re
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from callboard.display.characters import visible
from callboard.harness.evidence import Said, extracted
from callboard.harness.passthrough import Exit
from callboard.vendors.claude.extraction import Spoken

AT_ONCE: Final = 5.0
"""Seconds. Who leaves sooner, and has begun nothing, has not left but failed."""

_LEFT: Final = (signal.SIGHUP, signal.SIGINT)
_LONGEST_REASON: Final = 500
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")

Cut = Literal["timeout", "closed", "stopped"]
"""Why we ended the session: its time was up, its terminal was closed, we were told to stop."""

Unsure = Literal["read", "unconfirmed"]
"""The decision was read from the conversation, or nobody confirmed it in the agent's dialog."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is recorded. unsure: why the person has to confirm it first.

    otherwise: what is recorded when they do not; None is a session that was left.
    """

    outcome: str
    response: Any = None
    error: str | None = None
    unsure: Unsure | None = None
    otherwise: "Ending | None" = None


Confirm = Callable[[Ending], Awaitable[bool]]
"""Asks the person about a decision that they did not confirm in the agent's dialog."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a session went. duration: seconds; cut: why we ended it, if we did.

    decision, proposal: as they are kept. confirmed: whether the person confirmed the decision.
    """

    exit: Exit
    duration: float
    cut: Cut | None
    said: Sequence[Spoken]
    decision: Mapping[str, Any] | None = None
    proposal: Mapping[str, Any] | None = None
    confirmed: bool = False


def judged(course: Course, prompt: str, config: Mapping[str, Any]) -> Ending | None:
    """The session's end; None when somebody else should have it.

    What the person confirmed counts, however the session ended.
    """
    confirmed, unconfirmed = _confirmed(course), _unconfirmed(course)
    if confirmed is not None and (unconfirmed is None or course.cut is not None):
        return confirmed
    if course.cut == "timeout":
        return Ending("timeout", error="The time for the session was up, and nothing was decided.")
    if course.cut == "stopped":
        return None
    if course.cut == "closed":
        return Ending("cancelled", error="The terminal was closed before anything was decided.")
    if unconfirmed is not None:
        asked = unconfirmed["decision"]
        return Ending("completed", asked, unsure="unconfirmed", otherwise=confirmed)
    failure = _failure(course)
    if failure is not None:
        return Ending("failed", error=failure)
    found = extracted(_evidence(course.said), prompt, config)
    if found is not None:
        return Ending("completed", found, unsure="read")
    return Ending("cancelled")


def _confirmed(course: Course) -> Ending | None:
    if course.decision is None or not course.confirmed:
        return None
    return Ending("completed", course.decision["decision"])


def _unconfirmed(course: Course) -> Mapping[str, Any] | None:
    """What the person still has to be asked about: what was submitted last without their yes."""
    if course.proposal is not None and not _was_refused_since(course.proposal, course.said):
        return course.proposal
    return None if course.confirmed else course.decision


def _was_refused_since(proposal: Mapping[str, Any], said: Sequence[Spoken]) -> bool:
    """Whether the person was asked again about it, and said no."""
    calls = [index for index, one in enumerate(said) if _is_call(one, proposal.get("call"))]
    return bool(calls) and any(one.kind == "refused" for one in said[calls[-1] :])


def _is_call(one: Spoken, id: Any) -> bool:
    return one.kind == "call" and one.use == id


def _evidence(said: Sequence[Spoken]) -> list[Said]:
    return [
        Said(one.kind, one.text)
        for one in said
        if one.kind == "person" or one.kind == "agent" or one.kind == "refused"
    ]


def _failure(course: Course) -> str | None:
    """What went wrong; None when the person simply left."""
    ended = course.exit
    if ended.signal is not None and ended.signal not in _LEFT:
        name = signal.Signals(ended.signal).name
        return _with_end(f"The agent was ended by {name}", course)
    if ended.code not in (None, 0, 129, 130):
        return _with_end(f"The agent ended with exit code {ended.code}", course)
    if not course.said and course.duration < AT_ONCE and ended.status == 0:
        return _with_end("The agent ended at once, before the session began", course)
    spoken = [one for one in course.said if one.kind in ("person", "agent", "error")]
    if spoken and spoken[-1].kind == "error":
        return f"The model could not be reached: {_short(spoken[-1].text)}"
    return None


def _with_end(sentence: str, course: Course) -> str:
    end = _short(_plain(course.exit.end))
    return f"{sentence}. Its last words: {end}" if end else f"{sentence}."


def _plain(text: str) -> str:
    return _SEQUENCE.sub("", text)


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST_REASON else "…" + line[-_LONGEST_REASON:]
