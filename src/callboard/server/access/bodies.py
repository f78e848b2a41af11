"""Bodies, read before anything acts on them, and never more than is allowed."""

import asyncio
from typing import Final

from starlette.types import Message, Receive

from callboard.errors import TooLarge, ValidationError
from callboard.events.codec import MOST_VALUES, values_so_far
from callboard.server.access.head import Head
from callboard.server.memory import Holding

_QUESTIONS: Final = "/interactions"


def is_question(path: str) -> bool:
    """Whether a request asks a question, or tells its end."""
    return path == _QUESTIONS or path.startswith(f"{_QUESTIONS}/")


def check_length(head: Head, limit: int) -> None:
    """Refuse a body that says itself that it is too large."""
    for given in head.all("content-length"):
        if not given.isascii() or not given.isdecimal():
            raise ValidationError("Content-Length: must be a number.", field="content-length")
        if len(given) > len(str(limit)) + 1 or int(given) > limit:
            raise too_large(limit)


def too_large(limit: int) -> TooLarge:
    """The error of a body beyond the limit."""
    return TooLarge(
        f"The body is too large; this server takes {limit} bytes. "
        "Put what is large into files, and send where they are.",
        limit=limit,
    )


async def check_values(body: bytes) -> None:
    """Refuse JSON of so many values that to read it would keep everybody waiting."""
    if len(body) <= MOST_VALUES:
        return
    for count in values_so_far(body):
        if count > MOST_VALUES:
            raise TooLarge(
                f"The body has too many values; this server takes {MOST_VALUES} in one JSON "
                "document. Put what is large into files, and send where they are.",
                limit=MOST_VALUES,
            )
        await asyncio.sleep(0)


def has_body(head: Head) -> bool:
    """Whether a body follows the head."""
    return bool(head.all("transfer-encoding")) or head.all("content-length") not in ([], ["0"])


async def read_body(receive: Receive, limit: int, holding: Holding) -> bytes | None:
    """The whole body; None when the client left before its end.

    Raises Overloaded when there is no memory for it.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise too_large(limit)
        holding.take(len(part))
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def read_again(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, once, then whatever else comes."""
    left = [body]

    async def give() -> Message:
        if not left:
            return await receive()
        return {"type": "http.request", "body": left.pop(), "more_body": False}

    return give
