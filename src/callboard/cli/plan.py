"""`callboard plan ID`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.plan_xml import outcome_of, plan_xml
from callboard.cli.printing import print_json
from callboard.engine.sessions import SessionInfo
from callboard.interactions.records import Interaction


@click.command("plan")
@click.argument("session", metavar="ID")
@options.anywhere
def command(session: str, place: Place, as_json: bool) -> None:
    """Print a session's questions, open and closed, as XML that agents read."""

    async def look(board: Board) -> tuple[SessionInfo, list[Interaction]]:
        info = await find_session(board, place, session)
        return info, await board.people.find(session_id=info.session_id)

    info, found = place.ask(look)
    if not as_json:
        click.echo(plan_xml(info, found))
        return
    told = [{**one.to_wire(), "outcome": _outcome(one)} for one in found]
    about = {"sessionId": info.session_id, "workflow": info.workflow, "status": info.status}
    print_json([{**about, "humanInteractions": told}])


def _outcome(question: Interaction) -> str | None:
    return None if question.status == "pending" else outcome_of(question)
