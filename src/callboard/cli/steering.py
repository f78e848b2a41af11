"""What the commands share that write to coding agents: they work on a server, which delivers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from callboard.board.messages import PlateMessage
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.client.client import Client
from callboard.display.lines import visible
from callboard.display.message_receipts import message_receipt

T = TypeVar("T")

_STYLES = {"seen": "done", "delivered": "done", "held": "here", "lost": "failed"}


def on_server(place: Target, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do something on the server of a database, or on the one that was given."""
    access = place.server()

    async def opened() -> T:
        async with Client(*access, via="cli") as client:
            return await work(client)

    return asyncio.run(opened())


def print_receipt_of(screen: Screen, message: PlateMessage) -> None:
    """Print what became of a message."""
    note = message.note and visible(message.note)
    screen.line((message_receipt(message.status, note), _STYLES.get(message.status, "")))
