"""What the commands share that write to coding agents: they work on a server, which delivers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from callboard.board.messages import PlateMessage
from callboard.board.plate import Plate
from callboard.cli.lookup import SHORTEST
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.client.client import Client
from callboard.display.lines import visible
from callboard.display.message_receipts import message_receipt
from callboard.errors import ConflictError, PlateNotFound

T = TypeVar("T")

_STYLES = {"seen": "done", "delivered": "done", "held": "here", "lost": "failed"}


def on_server(place: Target, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do something on the server of a database, or on the one that was given."""
    access = place.server()

    async def opened() -> T:
        async with Client(*access, via="cli") as client:
            return await work(client)

    return asyncio.run(opened())


async def find_plate(client: Client, place: Target, given: str) -> Plate:
    """The plate with this id or name, or the only one whose id starts with it."""
    plates = await client.plates.all()
    found = [one for one in plates if one.plate_id == given]
    found = found or [one for one in plates if given in (one.name, one.session_id)]
    if not found and len(given) >= SHORTEST:
        found = [one for one in plates if one.plate_id.startswith(given)]
    if not found:
        raise PlateNotFound(
            f"There is no plate {given!r}. List them: {place.command('plates')}", plate_id=given
        )
    if len(found) > 1:
        ids = ", ".join(one.plate_id for one in found)
        raise ConflictError(f"Several plates are called {given!r}. Give one of their ids: {ids}")
    return found[0]


def print_receipt_of(screen: Screen, message: PlateMessage) -> None:
    """Print what became of a message."""
    note = message.note and visible(message.note)
    screen.line((message_receipt(message.status, note), _STYLES.get(message.status, "")))
