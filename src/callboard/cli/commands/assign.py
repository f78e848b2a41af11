"""`callboard assign ID [PERSON]`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import one_line
from callboard.cli.lookup import find_question
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.assignments import assignment
from callboard.interactions.assignment import ME
from callboard.interactions.records import Interaction

_SHORT = 200


@click.command("assign")
@click.argument("question", metavar="ID")
@click.argument("person", metavar="[PERSON]", required=False)
@click.option("--none", "unassign", is_flag=True, help="Remove the assignment.")
@options.by
@options.anywhere
def command(
    question: str, person: str | None, unassign: bool, by: str | None, place: Target, as_json: bool
) -> None:
    """Assign a question to yourself or someone else.

    PERSON is a name, or group:NAME for a group. They are expected to answer, but the question is
    not locked and the assignment does not expire. Who may answer stays the same.
    """
    if unassign and person is not None:
        raise click.UsageError("Give PERSON or --none, not both.")

    async def act(board: Board) -> Interaction:
        asked = await find_question(board, place, question)
        return await board.people.assign(asked.id, None if unassign else person or ME, by=by)

    done = place.ask(act)
    if as_json:
        return print_json([done.to_wire()])
    screen = Screen()
    screen.line((f"{screen.signs.done} {assignment(done)}", "done"))
    screen.line((f"  {one_line(done.prompt, _SHORT)}", "faint"))
    return None
