"""`callboard resume ID`."""

from collections.abc import Awaitable
from typing import Any

import click

from callboard.cli import options
from callboard.cli.audience import Audience
from callboard.cli.exits import DONE
from callboard.cli.foreground import Stage, play
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.engine.sessions import SessionInfo
from callboard.errors import NotResumable
from callboard.events.status import ENDED


@click.command("resume")
@click.argument("session", metavar="ID")
@options.workflow_file
@options.by
@options.driving
@options.anywhere
def command(
    session: str,
    file: str | None,
    by: str | None,
    auto_approve: bool,
    place: Place,
    as_json: bool,
) -> int:
    """Let a session go on, here.

    Whether it was paused, was left by Ctrl-C, lost its process, or was answered meanwhile. If
    another process drives it, it goes on there. A server drives it itself; it is watched here.
    """
    info = place.ask(lambda board: find_session(board, place, session))
    stage = Stage(place, as_json, auto_approve)
    return resume_session(info, stage, by=by, file=file)


def resume_session(
    info: SessionInfo, stage: Stage, *, by: str | None, file: str | None = None
) -> int:
    """Drive a session in the foreground, unless another process does or it has ended."""
    if info.status in ENDED:
        raise _ended(info, stage)
    if info.running and not stage.place.watched:
        return _resume_elsewhere(info, stage, by)

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        await board.resume(info.session_id, by=by)
        audience.introduce(info)
        await audience.take_up(board, info.session_id, info.position)
        drive = board.drive(info.session_id, human_input=audience.people, on_event=audience.tell)
        return info.session_id, drive

    return play(stage, stage.place.needed(info, file), begin)


def watch_session(info: SessionInfo, stage: Stage) -> int:
    """Watch a session that goes on by itself, from where it stood."""

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        audience.introduce(info)
        await audience.take_up(board, info.session_id, info.position)
        watch = board.drive(info.session_id, human_input=audience.people, on_event=audience.tell)
        return info.session_id, watch

    return play(stage, stage.place.needed(info, None), begin)


def _ended(info: SessionInfo, stage: Stage) -> NotResumable:
    failed, command = info.status == "failed", stage.place.command
    retry = command("retry", info.session_id)
    fork = command("fork", info.session_id, "--phase", info.phase or "NAME")
    has = "been cancelled" if info.status == "cancelled" else info.status
    return NotResumable(
        f"Session {info.session_id} has {has} and cannot go on. "
        f"{'Try it again' if failed else 'Fork it'}: {retry if failed else fork}",
        session_id=info.session_id,
    )


def _resume_elsewhere(info: SessionInfo, stage: Stage, by: str | None) -> int:
    """Record the resume for whoever drives the session."""

    async def act(board: Board) -> bool:
        return await board.resume(info.session_id, by=by)

    resumed = stage.place.ask(act)
    if stage.as_json:
        print_json([{"ok": True, "sessionId": info.session_id, "wasResumed": resumed}])
        return DONE
    said = "It goes on there." if resumed else "There is nothing to resume."
    Screen().line(f"Another process drives session {info.session_id}. {said}")
    return DONE
