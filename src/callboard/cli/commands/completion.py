"""`callboard completion install|show|uninstall`."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from callboard.cli import options
from callboard.cli.completion_files import (
    SHELLS,
    CompletionFiles,
    FileChange,
    files_of,
    script_of,
)
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen


@click.command("completion")
@click.argument("action", type=click.Choice(["install", "show", "uninstall"]))
@click.argument("shell", metavar="[SHELL]", type=click.Choice(SHELLS), required=False)
@options.plain
def command(action: str, shell: str | None, as_json: bool) -> None:
    """Set up Tab completion for bash, zsh or fish.

    SHELL defaults to your login shell. `install` writes a script, adds a line that loads it to
    ~/.bashrc or ~/.zshrc, and prints what it changed; running it again changes nothing. `show`
    prints the script. `uninstall` removes both. Requires bash 4.4 or later.
    """
    chosen = shell or _login_shell()
    if action == "show":
        return click.echo(script_of(chosen), nl=False)
    files = files_of(chosen)
    if action == "install":
        changes = list(files.install(script_of(chosen)))
    else:
        changes = list(files.uninstall())
    if as_json:
        return print_json(_wire(changes))
    return _tell(action, files, changes)


def _login_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise click.UsageError(f"Name your shell: callboard completion ACTION {'|'.join(SHELLS)}")
    return name


def _wire(changes: Iterable[FileChange]) -> Iterable[dict[str, object]]:
    return ({"done": one.done, "file": str(one.file), "lines": one.lines} for one in changes)


def _tell(action: str, files: CompletionFiles, changes: list[FileChange]) -> None:
    screen = Screen()
    for one in changes:
        screen.line(f"{one.done} {one.file}" + (":" if one.lines else ""))
        for line in one.lines:
            screen.line(("  " + line, "command"))
    if action == "install":
        is_new = "Open a new shell to use it." if changes else "Nothing to change."
        screen.line(f"Completion for {files.shell} is installed. {is_new}")
    elif not changes:
        screen.line(f"Completion for {files.shell} was not installed.")
