"""How a session ended: judged from what the agent left behind."""

import re
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from callboard.display.characters import visible
from callboard.harness.conversation import is_confirmed
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
    """What is recorded. unsure: why the person has to confirm it first."""

    outcome: str
    response: Any = None
    error: str | None = None
    unsure: Unsure | None = None


Confirm = Callable[[Ending], Awaitable[bool]]
"""Asks the person about a decision that they did not confirm in the agent's dialog."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a session went. duration: seconds; cut: why we ended it, if we did."""

    exit: Exit
    duration: float
    cut: Cut | None
    decision: Mapping[str, Any] | None
    said: Sequence[Spoken]


def judged(course: Course, prompt: str, config: Mapping[str, Any]) -> Ending | None:
    """The session's end; None when somebody else should have it.

    What the person confirmed counts, however the session ended.
    """
    decision = course.decision
    if decision is not None and is_confirmed(decision, course.said):
        return Ending("completed", decision["decision"])
    if course.cut == "timeout":
        return Ending("timeout", error="The time for the session was up, and nothing was decided.")
    if course.cut == "stopped":
        return None
    if course.cut == "closed":
        return Ending("cancelled", error="The terminal was closed before anything was decided.")
    if decision is not None:
        return Ending("completed", decision["decision"], unsure="unconfirmed")
    failure = _failure(course)
    if failure is not None:
        return Ending("failed", error=failure)
    found = extracted(_evidence(course.said), prompt, config)
    if found is not None:
        return Ending("completed", found, unsure="read")
    return Ending("cancelled")


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
