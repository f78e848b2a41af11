"""Attaches this terminal to an agent's, and says how that ended."""

from typing import TYPE_CHECKING, Final

import click

from callboard.board.hosts import local_host
from callboard.board.plate import Plate
from callboard.cli.exit import DONE, FAILED
from callboard.cli.format import one_line
from callboard.cli.targets import Target
from callboard.errors import ConflictError, Forbidden, NotFound, ValidationError
from callboard.terminals.records import OwnTerminal, terminal_of
from callboard.vendors.acp.payloads import NAME as ACP

if TYPE_CHECKING:
    from callboard.terminals.attaching import Attachment

KEY: Final = "Ctrl-\\"
"""The key that leaves an agent."""


def attach_to(plate: Plate, place: Target, *, take: bool = False) -> int:
    """Attach to a plate's agent until the person leaves it, or it ends; returns the exit code."""
    # Not on Windows.
    from callboard.terminals.attaching import Attaching
    from callboard.terminals.link import connection
    from callboard.terminals.persons_terminal import PersonsTerminal

    _check_has_terminal(plate, place)
    terminal = PersonsTerminal()
    if not terminal.is_there:
        raise ValidationError("`attach` needs an interactive terminal.")
    own = _terminal(plate, place)
    click.echo(f"Attaching. Leave it with {KEY}; it runs on.", err=True)
    try:
        with connection(own) as connected:
            connected.setblocking(False)
            ended = Attaching(connected, terminal).run(take=take)
    except OSError as error:
        raise NotFound(f"The agent has just ended: {error.strerror or error}.") from error
    return _told(ended, place.command("attach", plate.plate_id))


def _told(ended: "Attachment", again: str) -> int:
    """Say how it ended; returns the exit code. again: the command that attaches again."""
    if ended.how == "attached":
        raise ConflictError(
            f"Another terminal is attached to it. Leave it there with {KEY}, or take it over: "
            f"{again} --take"
        )
    if ended.how == "refused":
        raise Forbidden("Coding agents can't attach to agents.")
    told = {
        "left": f"It runs on. Attach again: {again}",
        "ended": f"It has ended, with exit code {ended.code}.",
        "taken": "Another terminal has taken it over.",
        "lost": "The process that kept its terminal was stopped.",
    }
    click.echo(told[ended.how], err=True)
    return DONE if ended.how in ("left", "ended") else FAILED


def _check_has_terminal(plate: Plate, place: Target) -> None:
    if plate.agent == ACP:
        raise NotFound(
            "An agent that speaks ACP has no terminal. Read it: "
            f"{place.command('transcript', '--follow', plate.plate_id)} · Write to it: "
            f"{place.command('say', plate.plate_id, '…')}"
        )


def _terminal(plate: Plate, place: Target) -> OwnTerminal:
    own = local_host()
    if plate.host not in ("", own.id):
        raise NotFound(
            f"It runs on {one_line(plate.host_name or plate.host)}. Attach to it there: "
            f"callboard attach {plate.plate_id}"
        )
    if plate.status == "closed":
        again = place.command("start", "--resume", plate.plate_id)
        raise ConflictError(f"This session has ended. Resume it: {again}")
    found = terminal_of(*plate.terminal_process)
    if found is None:
        raise NotFound(
            "This agent has a terminal of its own, so it can't be attached to. Only agents that "
            "`callboard start` started can."
        )
    return found
