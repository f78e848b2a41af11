"""`callboard retry ID`."""

import click

from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.foreground import Stage
from callboard.cli.fork import Point, fork_session
from callboard.cli.lookup import find_session
from callboard.engine.sessions import SessionInfo
from callboard.errors import ConflictError


@click.command("retry")
@click.argument("session", metavar="ID")
@options.workflow_file
@options.by
@options.driving
@options.common
def command(
    session: str,
    file: str | None,
    by: str | None,
    auto_approve: bool,
    database: Database,
    as_json: bool,
) -> int:
    """Try a failed session again, from the failed phase on.

    A fork at that phase, run here: what was done before it is not done again, and the failed
    session stays as it is.
    """
    info = database.ask(lambda board: find_session(board, database, session))
    point = Point(phase=_failed_phase(info, database))
    stage = Stage(database, as_json, auto_approve)
    return fork_session(info, stage, point, by=by, file=file)


def _failed_phase(info: SessionInfo, database: Database) -> str | None:
    if info.status != "failed":
        why = database.command("why", info.session_id)
        raise ConflictError(
            f"Session {info.session_id} has not failed: it is {info.status}. See: {why}",
            session_id=info.session_id,
        )
    return (info.error or {}).get("phase") or info.phase
