"""Attaches this terminal to an agent's, and says how that ended."""

from typing import TYPE_CHECKING

import click

from callboard.board.plate import Plate
from callboard.cli.exit import DONE, FAILED
from callboard.cli.targets import Target
from callboard.errors import ConflictError, NotFound, ValidationError
from callboard.vendors.acp.payloads import NAME as ACP

if TYPE_CHECKING:
    from callboard.terminals.attaching import Attachment


def attach_to(plate: Plate, place: Target, *, take: bool = False) -> int:
    """Attach to a plate's agent until the person leaves it, or it ends; returns the exit code."""
    # Not on Windows.
    from callboard.board.attaching import attach
    from callboard.terminals.persons_terminal import PersonsTerminal

    _check_may_have_terminal(plate, place)
    terminal = PersonsTerminal()
    if not terminal.is_there:
        raise ValidationError("`attach` needs an interactive terminal.")
    ended = attach(terminal, plate, take=take)
    return _print_ending(ended, place.command("attach", plate.plate_id))


def _print_ending(ended: "Attachment", again: str) -> int:
    """Say how it ended; returns the exit code. again: the command that attaches again."""
    from callboard.board.attaching import KEY, ending

    said = ending(ended)
    if ended.how == "attached":
        raise ConflictError(f"{said} Leave it there with {KEY}, or take it over: {again} --take")
    click.echo(f"{said} Attach again: {again}" if ended.how == "left" else said, err=True)
    return DONE if ended.how in ("left", "ended") else FAILED


def _check_may_have_terminal(plate: Plate, place: Target) -> None:
    if plate.agent == ACP:
        raise NotFound(
            "An agent that speaks ACP has no terminal. Read it: "
            f"{place.command('transcript', '--follow', plate.plate_id)} · Write to it: "
            f"{place.command('say', plate.plate_id, '…')}"
        )
    if plate.status == "closed":
        again = place.command("start", "--resume", plate.plate_id)
        raise ConflictError(f"This session has ended. Resume it: {again}")
