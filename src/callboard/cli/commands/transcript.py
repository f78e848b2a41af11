"""`callboard transcript ID`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_question
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.errors import NotFound
from callboard.events.json_values import as_object
from callboard.interactions.records import Interaction


@click.command("transcript")
@click.argument("question", metavar="ID")
@options.anywhere
def command(question: str, place: Target, as_json: bool) -> None:
    """Print the transcript of an interactive session, if one was kept.

    Transcripts are kept only on request. Anything that looks like a secret is removed.
    """
    found = place.ask(lambda board: find_question(board, place, question))
    if found.transcript is None:
        raise NotFound(_why(found), interaction_id=found.id)
    if as_json:
        return print_json([{"id": found.id, "transcript": found.transcript}])
    screen = Screen()
    for line in found.transcript.splitlines():
        screen.line(line)
    return None


def _why(found: Interaction) -> str:
    if found.type != "interactive_session":
        return f"Question {found.id} is not an interactive session, so it has no transcript."
    if found.status == "pending":
        return f"Session {found.id} has not ended. Its transcript is kept when it does."
    wanted = as_object(found.config).get("captureTranscript") is True
    why = "it has no messages" if wanted else "captureTranscript was not set"
    return f"No transcript of session {found.id} is kept: {why}."
