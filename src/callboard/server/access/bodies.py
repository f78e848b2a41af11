"""Read request bodies completely, up to a limit, before acting on them."""

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive

from callboard.errors import TooLarge, ValidationError
from callboard.events.codec import MOST_VALUES, values_so_far
from callboard.server.access.head import Head
from callboard.server.memory import ConnectionMemory

QUESTIONS: Final = "/interactions"
"""The path for asking questions. Actions on a question are below it."""


def check_length(head: Head, limit: int) -> None:
    """Refuse a body whose declared length is too large."""
    for given in head.all("content-length"):
        if not given.isascii() or not given.isdecimal():
            raise ValidationError("Content-Length: must be a number.", field="content-length")
        if len(given) > len(str(limit)) + 1 or int(given) > limit:
            raise too_large(limit)


def too_large(limit: int) -> TooLarge:
    """The error for a body over the limit."""
    return TooLarge(
        f"The body is too large; the limit is {limit} bytes. "
        "Put large data into files and send their paths.",
        limit=limit,
    )


async def check_values(body: bytes) -> None:
    """Refuse JSON with so many values that parsing it would block other requests."""
    if len(body) <= MOST_VALUES:
        return
    for count in values_so_far(body):
        if count > MOST_VALUES:
            raise TooLarge(
                f"The body has too many values; the limit is {MOST_VALUES} in one JSON document. "
                "Put large data into files and send their paths.",
                limit=MOST_VALUES,
            )
        await asyncio.sleep(0)


def has_body(head: Head) -> bool:
    """Whether the request has a body."""
    return bool(head.all("transfer-encoding")) or head.all("content-length") not in ([], ["0"])


async def read_parts(receive: Receive, keep: Callable[[bytes], bool]) -> bool:
    """Pass each part of a body to `keep`, until the body ends or `keep` returns True.

    Returns False if the client disconnected first.
    """
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return False
        is_enough = keep(message.get("body", b""))
        if is_enough or not message.get("more_body", False):
            return True


async def read_body(receive: Receive, limit: int, holding: ConnectionMemory) -> bytes | None:
    """The whole body; None if the client disconnected before its end.

    Raises TooLarge over the limit, and Overloaded if there is no memory for it.
    """
    parts: list[bytes] = []
    size = 0

    def keep(part: bytes) -> bool:
        nonlocal size
        size += len(part)
        if size > limit:
            raise too_large(limit)
        holding.take(len(part))
        parts.append(part)
        return False

    return b"".join(parts) if await read_parts(receive, keep) else None


def read_again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body once, then whatever comes next."""
    left = [body]

    async def give() -> Message:
        if not left:
            return await receive()
        return {"type": "http.request", "body": left.pop(), "more_body": False}

    return give
