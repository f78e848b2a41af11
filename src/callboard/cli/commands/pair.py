"""`callboard pair`."""

import click

from callboard.board.pairing import pair_command
from callboard.cli import options
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.client.access import is_loopback
from callboard.display.qr_codes import half_blocks, qr_code
from callboard.errors import MissingExtra
from callboard.log.presence import servers_of


@click.command("pair")
@click.option(
    "--url",
    metavar="URL",
    help="The server's address for the other machine; by default, the one it runs at.",
)
@options.found
def command(url: str | None, database: Database, as_json: bool) -> None:
    """Make a code that lets another machine report its coding agents.

    The code works once, for five minutes. The machine that uses it gets a token that can only
    report its own agents and never answer for them. In a terminal, the command to run there is also
    shown as a QR code. To remove the machine: `callboard hosts remove`.
    """
    made = database.ask(lambda board: board.pairing.create())
    known = url or _address(database)
    told = pair_command(known or "URL", made.code)
    if known is None:
        click.echo("Replace URL with the server's address for the other machine.", err=True)
    elif is_loopback(known):
        click.echo(
            f"Only this machine can reach {known}. Replace it with an address that the other "
            "machine can reach, of a proxy or a tunnel for example.",
            err=True,
        )
    if as_json:
        return print_json([{**made.to_wire(), "command": told}])
    screen = Screen()
    screen.line("Code: ", (made.code, "command"))
    screen.line("Within five minutes, on the other machine: ", (told, "command"))
    return _draw(screen, told)


def _address(database: Database) -> str | None:
    """Where the server of the database runs, if it does on this machine."""
    running = servers_of(database.path)
    return next((one.url for one in running if one.url is not None), None)


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
