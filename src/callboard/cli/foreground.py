"""Drives a session in the foreground: to its end, its next question, or Ctrl-C."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Self

from callboard.board.protocol import Board
from callboard.cli.diagnosis import Reason, Situation, reason, situation, tell_reason
from callboard.cli.exit import DONE, FAILED, INTERRUPTED, WAITING, leave_now
from callboard.cli.format import preview
from callboard.cli.lookup import find_session
from callboard.cli.presenter import Audience
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import SessionOwned
from callboard.events.codec import dump_json
from callboard.events.json_values import as_object

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALS = tuple(one for one in signal.Signals if one.name in _NAMES)  # Not all are on Windows.
_EXITS = {"completed": DONE, "waiting": WAITING, "paused": WAITING, "tasks": WAITING}
"""Why a drive ended → the exit code; anything else is a failure."""

_PREVIEW = 100
_OURS = ("humanResponse", "human_response", "approved")


class Interruption(ExitStack):
    """Cancels a task when the process is asked to stop, so that it can clean up."""

    def __init__(self, task: asyncio.Future[object]) -> None:
        super().__init__()
        self.happened = False
        self._task = task
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        # Not the loop's own handlers, which wait for an agent that blocks the loop.
        for number in _SIGNALS:
            self.callback(signal.signal, number, signal.signal(number, self._caught))
        return super().__enter__()

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self.happened:
            leave_now()
        self.stop()

    def stop(self) -> None:
        """Stop the task like a first Ctrl-C."""
        self.happened = True
        self._loop.call_soon_threadsafe(self._task.cancel)


class Impatient(ThreadPoolExecutor):
    """Threads for plain functions; the end of a run doesn't wait for them."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let idle threads end; busy ones are left until the process exits."""
        super().shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Foreground:
    """Where a session is driven: on which database or server, and how it is shown."""

    place: Target
    as_json: bool
    auto_approve: bool
    tell_end: Callable[[Screen, object], None] | None = None
    """Prints the result from the last state; by default, the state is shown."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A session to continue, and where its workflow is if it has moved."""

    info: SessionInfo
    stage: Foreground
    by: str | None = None
    file: str | None = None

    @classmethod
    def typed(
        cls,
        session: str,
        file: str | None,
        by: str | None,
        auto_approve: bool,
        place: Target,
        as_json: bool,
    ) -> Self:
        """The session for these command line values."""
        info = place.ask(lambda board: find_session(board, place, session))
        return cls(info, Foreground(place, as_json, auto_approve), by, file)

    def workflows(self) -> list[Workflow]:
        """The workflows needed here to continue it."""
        return self.stage.place.needed(self.info, self.file)


Begin = Callable[[Board, Audience], Awaitable[tuple[str, Awaitable[object]]]]
"""Starts or continues a session; returns its id and what is driving it."""


def start(
    workflow: Workflow | str,
    given: object,
    source: Mapping[str, str] | None,
    tell: Callable[[str], object] = str,
    title: str | None = None,
) -> Begin:
    """Start a new session; `tell` is called with its id."""

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[object]]:
        people, hear = audience.people, audience.tell
        execution = board.run(
            workflow, given, human_input=people, on_event=hear, source=source, title=title
        )
        tell(execution.session_id)
        return execution.session_id, execution

    return begin


def play(stage: Foreground, workflows: Sequence[Workflow], begin: Begin) -> int:
    """Drive a session here, or watch it elsewhere, until it stops; returns the exit code."""
    audience = Audience(as_json=stage.as_json, auto_approve_all=stage.auto_approve)
    # With --json, standard output is only for events, whatever the workflow prints.
    with redirect_stdout(sys.stderr) if stage.as_json else nullcontext():
        return asyncio.run(_play(stage, audience, workflows, begin))


async def _play(
    stage: Foreground, audience: Audience, workflows: Sequence[Workflow], begin: Begin
) -> int:
    asyncio.get_running_loop().set_default_executor(Impatient())
    async with stage.place.open(workflows, create=True) as board:
        session_id, drive = await begin(board, audience)
        task = asyncio.ensure_future(drive)
        with Interruption(task) as interruption:
            audience.on_gone = interruption.stop
            try:
                await task
            except asyncio.CancelledError:
                if not interruption.happened:
                    raise
                return _interrupted(stage, audience, session_id)
            except SessionOwned:
                audience.notes.line(f"Another process is driving session {session_id} now.")
                return DONE
            finally:
                audience.rest()
        await audience.finish(board, session_id)
        return await _conclude(stage, board, audience, session_id)


def _interrupted(stage: Foreground, audience: Audience, session_id: str) -> int:
    audience.rest()
    resume = stage.place.command("resume", session_id)
    said = f"Stopped. Session {session_id} is saved. Resume it: {resume}"
    if stage.place.watched:
        said = (
            f"Stopped following. Session {session_id} is still running. Follow it again: {resume}"
        )
    with suppress(OSError):  # The terminal may have been closed.
        if audience.is_gone:
            print(said, file=sys.stderr)
        else:
            audience.notes.line(said)
    return INTERRUPTED


async def _conclude(stage: Foreground, board: Board, audience: Audience, session_id: str) -> int:
    """Print the session's status, and what to do about it."""
    now = await situation(board, stage.place, session_id)
    why = reason(now)
    if why.kind == "completed":
        if not stage.as_json:
            (stage.tell_end or _tell_state)(audience.notes, now.view.state)
        return DONE
    if why.kind == "failed":
        _tell_failure(stage, now, why)
        return FAILED
    tell_reason(audience.notes, why)
    return INTERRUPTED if audience.left_a_question else _EXITS.get(why.kind, FAILED)


def _tell_state(screen: Screen, state: object) -> None:
    for key, value in as_object(state).items():
        if key not in _OURS and value is not None:
            screen.line((f"  {preview(key)}: ", "faint"), preview(value, _PREVIEW))


def _tell_failure(stage: Foreground, now: Situation, why: Reason) -> None:
    retry = now.command("retry", now.id)
    if stage.as_json:
        error = {**(now.info.error or {}), "sessionId": now.id, "retry": retry}
        print(dump_json({"error": error}).decode(), file=sys.stderr)
    else:
        screen = Screen(sys.stderr)
        screen.line(f"error: {why.text}")
        for line in (why.traceback or "").splitlines():
            screen.line((f"  {line}", "faint"))
        screen.line("Retry it: ", (retry, "command"))
