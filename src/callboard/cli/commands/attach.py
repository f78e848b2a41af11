"""`callboard attach PLATE`."""

import click

from callboard.cli import options
from callboard.cli.attach_terminal import attach_to
from callboard.cli.lookup import find_plate
from callboard.cli.person import ATTACHES, ask_as_person
from callboard.cli.targets import Target


@click.command("attach")
@click.argument("plate", metavar="PLATE")
@click.option("--take", is_flag=True, help="Take it over from another terminal.")
@options.protocol
def command(plate: str, take: bool, place: Target) -> int:
    """Show a coding agent in this terminal that was started with `callboard start`.

    Everything you type goes to the agent, except control and backslash, which leaves it. It runs
    on, and can be attached to again. One terminal at a time can be attached.
    """
    found = ask_as_person(place, ATTACHES, lambda board: find_plate(board, place, plate))
    return attach_to(found, place, take=take)
