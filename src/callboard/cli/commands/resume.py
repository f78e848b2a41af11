"""`callboard resume ID`."""

from collections.abc import Awaitable, Callable

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.exit import DONE
from callboard.cli.foreground import Continuation, Foreground, play
from callboard.cli.presenter import Audience
from callboard.cli.printing import print_result
from callboard.engine.sessions import SessionInfo
from callboard.errors import NotResumable
from callboard.events.status import ENDED


@click.command("resume")
@click.argument("session", metavar="ID")
@options.workflow_file
@options.by
@options.driving
@options.anywhere
@options.collected(Continuation.typed)
def command(one: Continuation) -> int:
    """Resume a session in this process.

    Works for sessions that were paused, interrupted with Ctrl-C, lost their process, or were
    answered in the meantime. If another process is driving the session, it continues there.
    With --server, the server drives it and the output is shown here.
    """
    return resume_session(one)


def resume_session(one: Continuation) -> int:
    """Drive a session in the foreground, unless another process does or it has ended."""
    info, stage = one.info, one.stage
    if info.status in ENDED:
        raise _ended(info, stage)
    if info.running and not stage.place.watched:
        return _resume_elsewhere(one)
    return watch_session(one, lambda board: board.resume(info.session_id, by=one.by))


def watch_session(
    one: Continuation, first: Callable[[Board], Awaitable[object]] | None = None
) -> int:
    """Watch a session from its current position; `first` makes it continue."""
    session_id = one.info.session_id

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[object]]:
        if first is not None:
            await first(board)
        audience.introduce(one.info)
        await audience.take_up(board, session_id, one.info.position)
        people, tell = audience.people, audience.tell
        return session_id, board.drive(session_id, human_input=people, on_event=tell)

    return play(one.stage, one.workflows(), begin)


def _ended(info: SessionInfo, stage: Foreground) -> NotResumable:
    failed, command = info.status == "failed", stage.place.command
    retry = command("retry", info.session_id)
    fork = command("fork", info.session_id, "--phase", info.phase or "NAME")
    has = "been cancelled" if info.status == "cancelled" else info.status
    return NotResumable(
        f"Session {info.session_id} has {has} and cannot be resumed. "
        f"{'Retry it' if failed else 'Fork it'}: {retry if failed else fork}",
        session_id=info.session_id,
    )


def _resume_elsewhere(one: Continuation) -> int:
    """Record the resume for the process that drives the session."""
    session_id = one.info.session_id
    resumed = one.stage.place.ask(lambda board: board.resume(session_id, by=one.by))
    said = "It continues there." if resumed else "Nothing to resume."
    print_result(
        one.stage.as_json,
        {"ok": True, "sessionId": session_id, "wasResumed": resumed},
        f"Another process is driving session {session_id}. {said}",
    )
    return DONE
