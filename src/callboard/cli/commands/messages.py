"""`callboard messages PLATE [list|edit|move|withdraw]`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import click

from callboard.board.messages import PlateMessage, PlateMessages
from callboard.cli import options
from callboard.cli.format import ago
from callboard.cli.lookup import find_plate
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.steering import on_server, print_receipt_of
from callboard.cli.targets import Target
from callboard.client.client import Client
from callboard.display.lines import one_line, visible
from callboard.errors import NotFound, ValidationError
from callboard.events.moments import from_ms
from callboard.events.payloads.messages import MessageTiming

_SHORT: Final = 100
_SHORTEST_ID: Final = 2
_WHEN: Final[Mapping[str, MessageTiming]] = {"now": "now", "after-turn": "after_turn"}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The command line's values."""

    plate: str
    action: Literal["list", "edit", "move", "withdraw"]
    message: str | None
    text: str | None
    before: str | None
    when: str | None
    place: Target
    as_json: bool


@click.command("messages")
@click.argument("plate", metavar="PLATE")
@click.argument("action", type=click.Choice(["list", "edit", "move", "withdraw"]), default="list")
@click.argument("message", metavar="[MESSAGE]", required=False)
@click.argument("text", metavar="[TEXT]", required=False)
@click.option(
    "--before",
    metavar="MESSAGE",
    help="With `move`: put it before this message. Without this option, it goes last.",
)
@click.option(
    "--when", type=click.Choice(["now", "after-turn"]), help="With `edit`: when to deliver it."
)
@options.anywhere
@options.collected(_Wanted)
def command(given: _Wanted) -> None:
    """List the messages to a coding agent, and change those that wait.

    `edit MESSAGE TEXT` changes a message, `move MESSAGE --before OTHER` its place, and `withdraw
    MESSAGE` takes it back, all until it is handed over. MESSAGE is an id, or the start of one.
    """
    if given.action == "list":
        return _list(given)
    if given.message is None:
        raise click.UsageError("Missing argument 'MESSAGE'.")
    changed = on_server(given.place, lambda client: _change(client, given))
    if given.as_json:
        return print_json([changed.to_wire()])
    return print_receipt_of(Screen(), changed)


async def _change(client: Client, given: _Wanted) -> PlateMessage:
    plate = (await find_plate(client, given.place, given.plate)).plate_id
    listed = await client.messages.list(plate)
    message = _found(listed, given.message or "")
    if given.action == "withdraw":
        return await client.messages.withdraw(plate, message)
    if given.action == "move":
        before = "" if given.before is None else _found(listed, given.before)
        return await client.messages.change(plate, message, before=before)
    if given.text is None and given.when is None:
        raise ValidationError("text: give the new text, or --when.", field="text")
    return await client.messages.change(
        plate, message, text=given.text, when=None if given.when is None else _WHEN[given.when]
    )


def _found(listed: PlateMessages, given: str) -> str:
    """The id of a message, from the start of it. One that is not listed may still exist."""
    ids = [one.id for one in listed.messages]
    found = [
        id for id in ids if id == given or (len(given) >= _SHORTEST_ID and id.startswith(given))
    ]
    if len(found) > 1:
        raise NotFound(f"Several messages start with {given!r}: {', '.join(found)}", id=given)
    return found[0] if found else given


def _list(given: _Wanted) -> None:
    async def look(client: Client) -> tuple[PlateMessages, int]:
        plate = await find_plate(client, given.place, given.plate)
        return await client.messages.list(plate.plate_id), client.clock.now_ms()

    listed, now_ms = on_server(given.place, look)
    if given.as_json:
        return print_json([listed.to_wire()])
    screen = Screen()
    for one in listed.messages:
        who = one_line(one.by) if one.by else "someone"
        after = ", after its turn" if one.when == "after_turn" else ""
        when = ago(from_ms(one.created_at), from_ms(now_ms))
        screen.line((f"{one.id}  ", "faint"), one_line(one.text, _SHORT))
        screen.add((f"  {who}, {when}{after}. ", "faint"))
        print_receipt_of(screen, one)
    if not listed.messages:
        screen.line("No messages. Write one: ", (_say(given), "command"))
    if listed.reach.note:
        screen.line((visible(listed.reach.note), "faint"))
    return None


def _say(given: _Wanted) -> str:
    return given.place.command("say", given.plate, "TEXT")
