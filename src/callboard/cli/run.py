"""`callboard run FILE[:NAME]`."""

from collections.abc import Awaitable
from typing import Any

import click

from callboard.cli import options
from callboard.cli.audience import Audience
from callboard.cli.foreground import Stage, play
from callboard.cli.places import Board, Place
from callboard.errors import ValidationError
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import with_status_files


@click.command("run")
@click.argument("file", metavar="FILE[:NAME]")
@click.option("--input", "given", metavar="TEXT", help="What the workflow starts with.")
@click.option(
    "--status-files",
    "folder",
    is_flag=False,
    flag_value="",
    metavar="[PATH]",
    help="Keep workflow.json and its report in the .claude of this project, or of PATH.",
)
@options.driving
@options.anywhere
def command(
    file: str,
    given: str | None,
    folder: str | None,
    auto_approve: bool,
    place: Place,
    as_json: bool,
) -> int:
    """Run a workflow of a Python file here.

    NAME is the variable that holds the workflow; it can be left out when the file has only one.
    With --server the workflow runs there, and its own name will do.
    Questions are asked in this terminal. Without one, and without --auto-approve, the run stops
    at its first question and says how to answer.
    """
    root = _root(place, folder)
    startable = place.startable(file)
    source = with_status_files(startable.source, root)

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        execution = board.run(
            startable.workflow,
            given,
            human_input=audience.people,
            on_event=audience.tell,
            source=source,
        )
        return execution.session_id, execution

    return play(Stage(place, as_json, auto_approve), startable.loaded, begin)


def _root(place: Place, folder: str | None) -> str | None:
    """The project whose status files are meant."""
    if folder is not None and place.watched:
        raise ValidationError(
            "status_files: a server writes no files in your projects. Leave --status-files out, "
            "or --server.",
            field="status_files",
        )
    return str(find_place().root) if folder == "" else folder
