"""`callboard pair`."""

import click

from callboard.board.pairing import pair_command
from callboard.cli import options
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.display.qr_codes import half_blocks, qr_code
from callboard.errors import MissingExtra


@click.command("pair")
@click.option(
    "--url",
    metavar="URL",
    default="URL",
    help="The server's address for the other machine, so that the command is complete.",
)
@options.found
def command(url: str, database: Database, as_json: bool) -> None:
    """Make a code that lets another machine report its coding agents.

    The code works once, for five minutes. The machine that uses it gets a token that can only
    report its own agents and never answer for them. In a terminal, the command to run there is also
    shown as a QR code. To remove the machine: `callboard hosts remove`.
    """
    made = database.ask(lambda board: board.pairing.create())
    told = pair_command(url, made.code)
    if as_json:
        return print_json([{**made.to_wire(), "command": told}])
    screen = Screen()
    screen.line("Code: ", (made.code, "command"))
    screen.line("Within five minutes, on the other machine: ", (told, "command"))
    return _draw(screen, told)


def _draw(screen: Screen, told: str) -> None:
    """Draw the command as a QR code where a camera could see it.

    The command, not an address: a phone that scans it can't pair, but it can pass text on to the
    machine that can, through a shared clipboard or a message.
    """
    if not screen.is_terminal or not screen.unicode:
        return
    try:
        lines = half_blocks(qr_code(told))
    except MissingExtra:
        return
    if len(lines[0]) <= screen.width:
        for line in lines:
            screen.line((line, "qr"))
