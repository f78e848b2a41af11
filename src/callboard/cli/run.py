"""`callboard run FILE[:NAME]`."""

from collections.abc import Awaitable
from typing import Any

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.audience import Audience
from callboard.cli.database import Database
from callboard.cli.foreground import Stage, play
from callboard.cli.source import load


@click.command("run")
@click.argument("file", metavar="FILE[:NAME]")
@click.option("--input", "given", metavar="TEXT", help="What the workflow starts with.")
@options.driving
@options.common
def command(
    file: str, given: str | None, auto_approve: bool, database: Database, as_json: bool
) -> int:
    """Run a workflow of a Python file here.

    NAME is the variable that holds the workflow; it can be left out when the file has only one.
    Questions are asked in this terminal. Without one, and without --auto-approve, the run stops
    at its first question and says how to answer.
    """
    source = load(file)

    async def begin(board: Callboard, audience: Audience) -> tuple[str, Awaitable[Any]]:
        execution = board.run(
            source.workflow,
            given,
            human_input=audience.people,
            on_event=audience.tell,
            source=source.recorded(),
        )
        return execution.session_id, execution

    return play(Stage(database, as_json, auto_approve), source.workflow, begin)
