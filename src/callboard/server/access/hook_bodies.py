"""Bodies of hooks: whatever their size, they are answered. Only their start is kept."""

from typing import Final

from starlette.types import Receive

from callboard.errors import Overloaded
from callboard.server.access.bodies import read_parts
from callboard.server.memory import ConnectionMemory

PREFIX: Final = "/hooks/"
"""How the addresses of hooks start."""

_MOST: Final = 256 * 1_048_576
"""Bytes after which a hook is answered whatever else it sends: no one's payload is so large."""

_LEAST: Final = 65_536
"""Bytes that are kept even when there is no memory left."""


def is_hook(path: str) -> bool:
    """Whether a request brings the payload of a hook."""
    return path.startswith(PREFIX)


async def read_beginning(receive: Receive, limit: int, holding: ConnectionMemory) -> bytes | None:
    """The first bytes of a body, all of which is taken; None when the client left.

    Less is kept when there is no memory for more: anyone who sends a hook is never refused.
    """
    beginning = _Beginning(limit, holding)
    cut, holding.cut = holding.cut, beginning.shorten
    try:
        return bytes(beginning.kept) if await read_parts(receive, beginning.add) else None
    finally:
        holding.cut = cut


class _Beginning:
    """What is kept of a body that arrives."""

    def __init__(self, limit: int, holding: ConnectionMemory) -> None:
        self.kept = bytearray()
        self._size = 0
        self._limit = limit
        self._holding = holding

    def add(self, part: bytes) -> bool:
        """Keep a part, as far as there is room; True when no payload is as large as this one."""
        self._size += len(part)
        part = part[: max(0, self._limit - len(self.kept))]
        try:
            self._holding.take(len(part))
        except Overloaded:
            self._limit = len(self.kept)
        else:
            self.kept += part
        return self._size > _MOST

    def shorten(self) -> None:
        """Others need the memory: keep only what says whose hook it is."""
        del self.kept[_LEAST:]
        self._limit = len(self.kept)
