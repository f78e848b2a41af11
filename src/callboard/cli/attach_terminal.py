"""Attaches this terminal to an agent's, and says how that ended."""

from typing import Final

import click

from callboard.board.hosts import local_host
from callboard.board.plate import Plate
from callboard.cli.exit import DONE, FAILED
from callboard.cli.format import one_line
from callboard.cli.targets import Target
from callboard.errors import ConflictError, NotFound, ValidationError
from callboard.terminals.records import OwnTerminal, terminal_of
from callboard.vendors.acp.payloads import NAME as ACP

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
    again = place.command("attach", plate.plate_id)
    match ended.how:
        case "left":
            return _said(f"It runs on. Attach again: {again}")
        case "ended":
            return _said(f"It has ended, with exit code {ended.code}.")
        case "taken":
            return _said("Another terminal has taken it over.", FAILED)
        case "lost":
            return _said("The process that kept its terminal was stopped.", FAILED)
        case "attached":
            raise ConflictError(
                f"Another terminal is attached to it. Leave it there with {KEY}, or take it over: "
                f"{again} --take"
            )


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
    pid, start = plate.terminal_process
    found = None if pid is None else terminal_of(pid, start)
    if found is None:
        raise NotFound(
            "This agent has a terminal of its own, so it can't be attached to. Only agents that "
            "`callboard start` started can."
        )
    return found


def _said(text: str, code: int = DONE) -> int:
    click.echo(text, err=True)
    return code
