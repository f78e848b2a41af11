"""`callboard watch -- COMMAND …`."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from callboard.cli.child import Child, end_like
from callboard.cli.choice import Choice
from callboard.courier.processes import Process

_PASSED_ON: Final = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_NOT_FOUND, _NOT_STARTED = 127, 126
"""What shells end with when a program is not there, or is none."""
_USUAL: Final = "claude"


@click.command("watch", context_settings=_PASSED_ON)
@click.option("--db", metavar="PATH", help="The database: a path or sqlite:///path.")
@click.option("--server", metavar="URL", help="A server instead: http://host:port.")
@click.option("--agent", metavar="NAME", help="Which agent it is, if the command does not say so.")
@click.argument("words", metavar="-- COMMAND ...", nargs=-1, required=True)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], **given: str | None) -> int:
    """Start a coding agent, and tell the board at once when it ends.

    The agent has the terminal to itself. Signals are passed on to it, and its exit code, or the
    signal that ended it, to whoever started this. Without a server it just runs.
    """
    try:
        child = Child.start(words)
    except OSError as error:
        click.echo(f"error: {words[0]} cannot be started: {error.strerror}.", err=True)
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED
    # The agent is starting; what follows takes no time from it.
    chosen: Choice = ctx.obj or Choice()
    server = given["server"] or (None if given["db"] else chosen.server)
    board = _Board(given["db"] or chosen.db, server)
    told = _told(child.pid, given["agent"] or _agent(words))
    board.send("/plates/register", told)
    status = child.wait()
    board.send("/plates/stopped", told)
    return end_like(status)


@dataclass(frozen=True, slots=True)
class _Board:
    """Whom to tell of the agent."""

    db: str | None
    server: str | None

    def send(self, path: str, told: dict[str, Any]) -> None:
        """Tell it if that can be done. Whatever fails here would take the agent with it."""
        with suppress(Exception):
            from callboard.cli.notices import Notices

            # Each time anew: the server may have moved meanwhile.
            Notices.by(self.db, self.server).send(path, told)


def _told(pid: int, agent: str) -> dict[str, Any]:
    told: dict[str, Any] = {"agent": agent, "pid": pid, "project_path": _folder()}
    start = Process(pid).start
    return told | ({"proc_start": start} if start else {})


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # It was removed, and we are in it all the same.
        return os.environ.get("PWD") or "/"


def _agent(words: tuple[str, ...]) -> str:
    """The agent that a command line starts, such as `npx claude`; claude when it does not say."""
    with suppress(ImportError):
        from callboard.vendors.agents import VENDORS

        named = (Path(word).name for word in words if not word.startswith("-"))
        return next((name for name in named if name in VENDORS), _USUAL)
    return _USUAL
