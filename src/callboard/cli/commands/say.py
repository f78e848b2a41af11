"""`callboard say PLATE TEXT`."""

import asyncio
import sys
from dataclasses import dataclass
from typing import Final

import click

from callboard.board.messages import PlateMessage, PlateMessages
from callboard.cli import options
from callboard.cli.exit import DONE, FAILED, WAITING
from callboard.cli.lookup import find_plate
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.steering import on_server, print_receipt_of
from callboard.cli.targets import Target
from callboard.client.client import Client
from callboard.display.lines import one_line
from callboard.display.message_receipts import command_note, how_delivered
from callboard.errors import ValidationError

_FROM_INPUT: Final = "-"
_LARGEST_INPUT: Final = 1_048_576
_LOOKS: Final = (0.1, 0.2, 0.3, 0.5, 1.0)
_OPEN: Final = ("queued", "handed", "held")
_CODES: Final = {"delivered": DONE, "seen": DONE, "withdrawn": FAILED, "lost": FAILED}


@dataclass(frozen=True, slots=True)
class _Said:
    """The command line's values."""

    plate: str
    text: tuple[str, ...]
    after_turn: bool
    wait: bool
    timeout: float
    place: Target
    as_json: bool


@click.command("say")
@click.argument("plate", metavar="PLATE")
@click.argument("text", metavar="TEXT", nargs=-1, required=True)
@click.option("--after-turn", is_flag=True, help="Deliver it once the agent's turn is over.")
@click.option("--wait", is_flag=True, help="Wait until it is delivered.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=600.0,
    help="How long to wait with --wait; 600 by default.",
)
@options.anywhere
@options.collected(_Said)
def command(given: _Said) -> int:
    """Write to a coding agent.

    PLATE is a plate's id, the start of it, or its name. TEXT is always sent as text, also if it
    starts with / or !; `-` reads it from standard input. The message is delivered at the agent's
    next opportunity, or with --after-turn once its turn is over. Needs a running server.

    With --wait, the exit code is 0 once it is delivered, 1 if it is lost or withdrawn, and 3 if
    that is not known in time, or if the person at the agent's terminal has to accept it first.
    """
    text, screen = _text(given.text), Screen()
    written, how, agent = on_server(given.place, lambda client: _say(client, given, text))
    if not given.wait:
        if given.as_json:
            print_json([written.to_wire()])
        else:
            _print_queued(screen, given, written, how, agent)
        return DONE
    found = on_server(given.place, lambda client: _end(client, written, given.timeout))
    if given.as_json:
        print_json([found.to_wire()])
    else:
        print_receipt_of(screen, found)
    return _CODES.get(found.status, WAITING)


def _text(words: tuple[str, ...]) -> str:
    if words != (_FROM_INPUT,):
        return " ".join(words)
    read = sys.stdin.buffer.read(_LARGEST_INPUT + 1)
    try:
        return read.decode()
    except UnicodeDecodeError as error:
        raise ValidationError("text: standard input is not UTF-8 text.", field="text") from error


async def _say(client: Client, given: _Said, text: str) -> tuple[PlateMessage, str, str]:
    """Write it; returns how it will be delivered, and what the agent is called, as well."""
    plate = await find_plate(client, given.place, given.plate)
    when = "after_turn" if given.after_turn else "now"
    written = await client.messages.say(plate.plate_id, text, when=when)
    how = ""
    if not (given.wait or given.as_json):
        reach = (await client.messages.list(plate.plate_id)).reach
        how = how_delivered(reach, when, idle=plate.status == "idle")
    return written, how, plate.label


def _print_queued(
    screen: Screen, given: _Said, written: PlateMessage, how: str, agent: str
) -> None:
    screen.line((f"Queued for {one_line(agent)}.", "done"))
    screen.line((f"  {how}", "faint"))
    if note := command_note(written.text):
        screen.line((f"  {note}", "faint"))
    screen.line("  Its receipt: ", (given.place.command("messages", given.plate), "command"))


async def _end(client: Client, written: PlateMessage, seconds: float) -> PlateMessage:
    """The message once it is delivered or can't be, or when the time is over."""
    found, looks = written, 0
    try:
        async with asyncio.timeout(seconds):
            while found.status in _OPEN and found.status != "held":
                await asyncio.sleep(_LOOKS[min(looks, len(_LOOKS) - 1)])
                looks += 1
                found = _this(await client.messages.list(written.plate_id), found)
    except TimeoutError:
        return found
    return found


def _this(listed: PlateMessages, known: PlateMessage) -> PlateMessage:
    return next((one for one in listed.messages if one.id == known.id), known)
