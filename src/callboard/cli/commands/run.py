"""`callboard run FILE[:NAME]`."""

import click

from callboard.cli import options
from callboard.cli.foreground import Foreground, play, start
from callboard.cli.targets import Target
from callboard.errors import PhaseError, StateInvalid, ValidationError
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import with_status_files


@click.command("run")
@click.argument("file", metavar="FILE[:NAME]", shell_complete=options.complete_files)
@click.option(
    "--input",
    "given",
    metavar="TEXT",
    help="The workflow's input; as JSON if the workflow doesn't take text.",
)
@click.option("--title", metavar="TEXT", help="What to call the session in lists.")
@click.option(
    "--status-files",
    "folder",
    is_flag=False,
    flag_value="",
    metavar="[PATH]",
    help="Write workflow.json and its report to .claude in this project, or in PATH.",
)
@options.driving
@options.anywhere
def command(  # noqa: PLR0913 - one for each option
    file: str,
    given: str | None,
    title: str | None,
    folder: str | None,
    auto_approve: bool,
    place: Target,
    as_json: bool,
) -> int:
    """Run a workflow from a Python file.

    NAME is the variable that holds the workflow; it can be omitted if the file has only one.
    With a server, or with a database whose server is running, use the workflow's own name: it
    runs there. Questions are asked in this terminal. Without a terminal, and without
    --auto-approve, the run stops at its first question and says how to answer it.
    """
    root = _root(place, folder)
    place = place.running(file)
    workflow, source = place.startable(file)
    takes = place.input_of(workflow)
    if given is None:
        takes.check_missing(file)
    begin = start(workflow, takes.read(given), with_status_files(source, root), title=title)
    needed = [] if isinstance(workflow, str) else [workflow]
    try:
        return play(Foreground(place, as_json, auto_approve), needed, begin)
    except (PhaseError, StateInvalid) as error:
        # The session didn't start. If it had, its error would be in its events.
        if given is None and takes.may_be_missing:
            raise takes.missing(file, error) from error
        raise


def _root(place: Target, folder: str | None) -> str | None:
    """The project for the status files."""
    if folder is not None and place.watched:
        raise ValidationError(
            "status_files: a server writes no files in your projects. Remove --status-files or "
            "--server.",
            field="status_files",
        )
    return str(find_place().root) if folder == "" else folder
