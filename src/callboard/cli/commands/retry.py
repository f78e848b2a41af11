"""`callboard retry ID`."""

import click

from callboard.cli import options
from callboard.cli.commands.fork import Point, fork_session
from callboard.cli.foreground import Continuation
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo
from callboard.errors import ConflictError


@click.command("retry")
@click.argument("session", metavar="ID")
@options.workflow_file
@options.by
@options.driving
@options.anywhere
@options.collected(Continuation.typed)
def command(one: Continuation) -> int:
    """Retry a failed session from the failed phase.

    The retry is a fork that runs here: earlier phases don't run again, and the failed session
    is not changed.
    """
    return fork_session(one, Point(phase=_failed_phase(one.info, one.stage.place)))


def _failed_phase(info: SessionInfo, place: Target) -> str | None:
    if info.status != "failed":
        why = place.command("why", info.session_id)
        raise ConflictError(
            f"Session {info.session_id} has not failed: it is {info.status}. See: {why}",
            session_id=info.session_id,
        )
    return (info.error or {}).get("phase") or info.phase
