"""`callboard retry ID`."""

import click

from callboard.cli import options
from callboard.cli.foreground import Stage
from callboard.cli.fork import Point, fork_session
from callboard.cli.lookup import find_session
from callboard.cli.places import Place
from callboard.engine.sessions import SessionInfo
from callboard.errors import ConflictError


@click.command("retry")
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
    """Try a failed session again, from the failed phase on.

    A fork at that phase, run here: what was done before it is not done again, and the failed
    session stays as it is.
    """
    info = place.ask(lambda board: find_session(board, place, session))
    point = Point(phase=_failed_phase(info, place))
    stage = Stage(place, as_json, auto_approve)
    return fork_session(info, stage, point, by=by, file=file)


def _failed_phase(info: SessionInfo, place: Place) -> str | None:
    if info.status != "failed":
        why = place.command("why", info.session_id)
        raise ConflictError(
            f"Session {info.session_id} has not failed: it is {info.status}. See: {why}",
            session_id=info.session_id,
        )
    return (info.error or {}).get("phase") or info.phase
