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
    """Try a failed session again, from the failed phase on.

    A fork at that phase, run here: what was done before it is not done again, and the failed
    session stays as it is.
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
