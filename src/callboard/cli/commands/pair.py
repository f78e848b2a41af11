"""`callboard pair`."""

import click

from callboard.cli import options
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database


@click.command("pair")
@options.found
def command(database: Database, as_json: bool) -> None:
    """Make a code that lets another machine report its coding agents.

    The code works once, for five minutes. The machine that uses it gets a token that can only
    report its own agents and never answer for them; revoke it with `callboard token revoke`.
    """
    made = database.ask(lambda board: board.pairing.create())
    if as_json:
        return print_json([made.to_wire()])
    screen = Screen()
    screen.line("Code: ", (made.code, "command"))
    screen.line(
        "Within five minutes, on the other machine: ",
        (f"callboard relay --server URL --pair {made.code}", "command"),
    )
    return None
