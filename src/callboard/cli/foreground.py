"""Driving a session in the foreground: to its end, its next question, or Ctrl-C."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any

from callboard.cli.audience import Audience
from callboard.cli.exits import DONE, FAILED, INTERRUPTED, WAITING
from callboard.cli.interruption import Impatient, Interruption
from callboard.cli.places import Board, Place
from callboard.cli.reasons import Reason, Situation, reason
from callboard.cli.screen import Screen
from callboard.cli.standing import situation, tell_ways
from callboard.cli.wording import preview
from callboard.engine.workflow import Workflow
from callboard.errors import SessionOwned
from callboard.events.codec import dump_json

_EXITS = {"completed": DONE, "waiting": WAITING, "paused": WAITING, "tasks": WAITING}
"""Why a drive ended → the exit code; anything else is a failure."""

_PREVIEW = 100
_OURS = ("humanResponse", "human_response", "approved")


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a session is driven: on which database or server, before whom."""

    place: Place
    as_json: bool
    auto_approve: bool
    tell_end: Callable[[Screen, Any], None] | None = None
    """Says what came of it, by its last state; without it, the state is shown."""


Begin = Callable[[Board, Audience], Awaitable[tuple[str, Awaitable[Any]]]]
"""Begins or takes up a session; gives its id and what drives it."""


def play(stage: Stage, workflows: Sequence[Workflow], begin: Begin) -> int:
    """Drive a session here, or watch it there, until it stops; returns the exit code."""
    audience = Audience(as_json=stage.as_json, auto_approve_all=stage.auto_approve)
    # With --json standard output is for events alone, whatever the workflow prints.
    with redirect_stdout(sys.stderr) if stage.as_json else nullcontext():
        return asyncio.run(_play(stage, audience, workflows, begin))


async def _play(
    stage: Stage, audience: Audience, workflows: Sequence[Workflow], begin: Begin
) -> int:
    asyncio.get_running_loop().set_default_executor(Impatient())
    async with stage.place.open(workflows, create=True) as board:
        session_id, drive = await begin(board, audience)
        return await _watch(stage, board, audience, session_id, drive)


async def _watch(
    stage: Stage, board: Board, audience: Audience, session_id: str, drive: Awaitable[Any]
) -> int:
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
            audience.notes.line(f"Another process drives session {session_id} now.")
            return DONE
        finally:
            audience.rest()
    await audience.finish(board, session_id)
    return await _conclude(stage, board, audience, session_id)


def _interrupted(stage: Stage, audience: Audience, session_id: str) -> int:
    audience.rest()
    resume = stage.place.command("resume", session_id)
    said = f"Stopped. Session {session_id} is kept; let it go on: {resume}"
    if stage.place.watched:
        said = f"Watching no more. Session {session_id} goes on there; watch it again: {resume}"
    with suppress(OSError):  # The terminal may have been closed.
        if audience.is_gone:
            print(said, file=sys.stderr)
        else:
            audience.notes.line(said)
    return INTERRUPTED


async def _conclude(stage: Stage, board: Board, audience: Audience, session_id: str) -> int:
    """Say how the session stands, and what to do about it."""
    now = await situation(board, stage.place, session_id)
    why = reason(now)
    if why.kind == "completed":
        if not stage.as_json:
            (stage.tell_end or _tell_state)(audience.notes, now.view.state)
        return DONE
    if why.kind == "failed":
        _tell_failure(stage, now, why)
        return FAILED
    notes = audience.notes
    notes.paragraph(why.text)
    tell_ways(notes, why)
    return INTERRUPTED if audience.left_a_question else _EXITS.get(why.kind, FAILED)


def _tell_state(screen: Screen, state: Any) -> None:
    if isinstance(state, dict):
        for key, value in state.items():  # pyright: ignore[reportUnknownVariableType]
            if key not in _OURS and value is not None:
                said = preview(value, _PREVIEW)
                screen.line((f"  {preview(key)}: ", "faint"), said)


def _tell_failure(stage: Stage, now: Situation, why: Reason) -> None:
    retry = now.command("retry", now.id)
    if stage.as_json:
        error = {**(now.info.error or {}), "sessionId": now.id, "retry": retry}
        print(dump_json({"error": error}).decode(), file=sys.stderr)
    else:
        print(f"error: {why.text}\nTry again: {retry}", file=sys.stderr)
