"""Bodies of hooks. They are accepted at any size, but only their start is kept."""

from typing import Final

from starlette.types import Receive

from callboard.errors import Overloaded
from callboard.server.access.bodies import read_parts
from callboard.server.memory import ConnectionMemory

PREFIX: Final = "/hooks/"
"""The path prefix of hooks."""

_MOST: Final = 256 * 1_048_576
"""Bytes after which a hook is answered without reading further. No real payload is this large."""

_LEAST: Final = 65_536
"""Bytes to keep even when memory is short."""


BATCHES: Final = "/relay/reports"
"""Where relays send hooks of other machines, many at once."""


def is_hook(path: str) -> bool:
    """Whether a request is a hook's payload."""
    return path.startswith(PREFIX)


def is_reported(path: str) -> bool:
    """Whether a request only brings reports. They are in the log, and there are many of them."""
    return is_hook(path) or path == BATCHES


async def read_beginning(receive: Receive, limit: int, holding: ConnectionMemory) -> bytes | None:
    """Read the whole body and return its first bytes; None if the client disconnected.

    Keeps less if memory is short: hooks are never refused.
    """
    beginning = _Beginning(limit, holding)
    cut, holding.cut = holding.cut, beginning.shorten
    try:
        return bytes(beginning.kept) if await read_parts(receive, beginning.add) else None
    finally:
        holding.cut = cut


class _Beginning:
    """The part of an incoming body that is kept."""

    def __init__(self, limit: int, holding: ConnectionMemory) -> None:
        self.kept = bytearray()
        self._size = 0
        self._limit = limit
        self._holding = holding

    def add(self, part: bytes) -> bool:
        """Keep a part, as far as there is room; returns True once the body is impossibly large."""
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
        """Free memory for others: keep only enough to identify the hook."""
        del self.kept[_LEAST:]
        self._limit = len(self.kept)
