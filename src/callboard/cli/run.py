"""`callboard run FILE[:NAME]`."""

from collections.abc import Awaitable
from typing import Any

import click

from callboard.cli import options
from callboard.cli.audience import Audience
from callboard.cli.foreground import Stage, play
from callboard.cli.places import Board, Place


@click.command("run")
@click.argument("file", metavar="FILE[:NAME]")
@click.option("--input", "given", metavar="TEXT", help="What the workflow starts with.")
@options.driving
@options.anywhere
def command(file: str, given: str | None, auto_approve: bool, place: Place, as_json: bool) -> int:
    """Run a workflow of a Python file here.

    NAME is the variable that holds the workflow; it can be left out when the file has only one.
    With --server the workflow runs there, and its own name will do.
    Questions are asked in this terminal. Without one, and without --auto-approve, the run stops
    at its first question and says how to answer.
    """
    startable = place.startable(file)

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        execution = board.run(
            startable.workflow,
            given,
            human_input=audience.people,
            on_event=audience.tell,
            source=startable.source,
        )
        return execution.session_id, execution

    return play(Stage(place, as_json, auto_approve), startable.loaded, begin)
