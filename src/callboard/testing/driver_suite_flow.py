"""The workflows of the driver suite, in a file that `callboard worker` can load.

Its agents write what they do to the file `effects` in the folder CALLBOARD_SUITE, and work for as
long as there is a file `hold` in it. CALLBOARD_SUITE_VERSION chooses the version of a workflow.
CALLBOARD_SUITE_WORKER is the name of this process in what its agents write. With
CALLBOARD_SUITE_KILL, the process that loads this writes a line for each of its appends, and kills
itself: `before 3` the third of them, or `after` it.
"""

import asyncio
import os
import signal
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal

from callboard.clock import SystemClock
from callboard.drafts.model import State
from callboard.engine.context import Context
from callboard.engine.function_agent import agent
from callboard.engine.live import LiveSession
from callboard.engine.phase import Phase
from callboard.engine.workflow import Workflow
from callboard.interactions.questions import Approval

FOLDER: Final = "CALLBOARD_SUITE"
VERSION: Final = "CALLBOARD_SUITE_VERSION"
KILL: Final = "CALLBOARD_SUITE_KILL"
WORKER: Final = "CALLBOARD_SUITE_WORKER"
LIMIT: Final = "suite"

Version = Literal["old", "new"]

_LOOK_AGAIN = 0.005
_clock = SystemClock()


def write_effect(*words: str) -> str:
    """Write a line that survives the process, and when that was; returns the last word."""
    file = os.open(_folder() / "effects", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{_clock.monotonic():.4f} {' '.join(words)}\n".encode())
    finally:
        os.close(file)
    return words[-1]


def _folder() -> Path:
    return Path(os.environ[FOLDER])


@agent
async def work(state: State, ctx: Context) -> str:
    """Work for as long as it is told to, with one effect that must not be repeated."""
    worker = os.environ.get(WORKER, "other")
    write_effect("ran", ctx.key, worker)
    try:
        while (_folder() / "hold").exists():  # noqa: ASYNC110 - another process removes it
            await asyncio.sleep(_LOOK_AGAIN)
    except asyncio.CancelledError:
        write_effect("cancelled", ctx.key, worker)
        raise
    return await ctx.once("do", lambda: write_effect("once", ctx.key))


reviewed = Workflow(
    "suite-reviewed",
    state=State,
    phases=[
        Phase("draft", agent=work, human=Approval("Send it?"), next="send"),
        Phase("send", agent=work, terminal=True),
    ],
)
"""An agent, a question, an agent."""

limited = Workflow(
    "suite-limited",
    state=State,
    phases=[Phase("use", agent=work, limit=LIMIT, terminal=True)],
)
"""An agent that needs a slot."""


def timed(name: str, seconds: float) -> Workflow:
    """A question that is approved by its deadline, then an agent."""
    return Workflow(
        name,
        state=State,
        phases=[
            Phase("ask", human=Approval("Now?", seconds, on_timeout="approve"), next="send"),
            Phase("send", agent=work, terminal=True),
        ],
    )


def changing(version: Version) -> Workflow:
    """Two versions: the new one has a phase that the old one lacks, and the reverse."""
    between = {"old": "removed", "new": "added"}[version]
    return Workflow(
        "suite-changing",
        state=State,
        version=version,
        phases=[
            Phase("draft", agent=work, next=between),
            Phase(between, agent=work, human=Approval("Send it?"), next="send"),
            Phase("send", agent=work, terminal=True),
        ],
    )


def replaced(version: Version) -> Workflow:
    """Two versions with a question before the phase that only one of them has."""
    between = {"old": "removed", "new": "added"}[version]
    return Workflow(
        "suite-replaced",
        state=State,
        version=version,
        phases=[
            Phase("ask", agent=work, human=Approval("Send it?"), next=between),
            Phase(between, agent=work, next="send"),
            Phase("send", agent=work, terminal=True),
        ],
    )


def _die_at(when: str, number: int) -> None:
    """Kill this process right before or after one of its appends to sessions that it drives."""
    # A commit that has nothing to write appends nothing.
    append, count = LiveSession._append, 0  # pyright: ignore[reportPrivateUsage]

    @wraps(append)
    async def counted(self: LiveSession, *given: Any, **named: Any) -> Any:
        nonlocal count
        if (count + 1, when) == (number, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        appended = await append(self, *given, **named)
        count += 1
        write_effect("committed", self.session_id)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return appended

    LiveSession._append = counted  # pyright: ignore[reportPrivateUsage]


soon = timed("suite-soon", 0.5)
later = timed("suite-later", 60)
late = timed("suite-late", 3600)
_version: Version = "old" if os.environ.get(VERSION) == "old" else "new"
changing_here = changing(_version)
replaced_here = replaced(_version)
if KILL in os.environ:
    _die_at(os.environ[KILL].split()[0], int(os.environ[KILL].split()[1]))
