"""Bodies of hooks: whatever their size, they are answered. Only their beginning is kept."""

from typing import Final

from starlette.types import Receive

from callboard.errors import Overloaded
from callboard.server.memory import Holding

PREFIX: Final = "/hooks/"
"""How the addresses of hooks begin."""

_MOST: Final = 256 * 1_048_576
"""Bytes after which a hook is answered whatever else it sends: nobody's payload is so large."""


def is_hook(path: str) -> bool:
    """Whether a request brings the payload of a hook."""
    return path.startswith(PREFIX)


async def read_beginning(receive: Receive, limit: int, holding: Holding) -> bytes | None:
    """The first bytes of a body, all of which is taken; None when the client left.

    Less is kept when there is no memory for more.
    """
    kept = bytearray()
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        size += len(part)
        part = part[: max(0, limit - len(kept))]
        try:
            holding.take(len(part))
        except Overloaded:
            limit = len(kept)
        else:
            kept += part
        if size > _MOST or not message.get("more_body", False):
            return bytes(kept)
