"""Hooks that could be written nowhere, because the disk is full: kept until they can be."""

import logging
from collections import deque
from dataclasses import dataclass
from typing import Final

_log = logging.getLogger(__name__)

MOST: Final = 10_000
MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """One hook's payload, and when it came."""

    agent: str
    body: bytes
    at_ms: int


class Memory:
    """Payloads in the order in which they came, within bounds. What does not fit is counted."""

    def __init__(self) -> None:
        self.kept: deque[Kept] = deque()
        self.lost = 0
        self._size = 0

    def keep(self, one: Kept) -> None:
        """Keep one more, or count it as lost."""
        if len(self.kept) >= MOST or self._size + len(one.body) > MOST_BYTES:
            self.lost += 1
            _log.error(
                "A hook of %s is lost: the disk is full, and so is the memory for hooks. Free "
                "some space. Lost since this server started: %d",
                one.agent,
                self.lost,
            )
            return
        if not self.kept:
            _log.error("Hooks are kept in memory until they can be written. Free some disk space.")
        self.kept.append(one)
        self._size += len(one.body)

    def forget_first(self) -> None:
        """The oldest is recorded."""
        self._size -= len(self.kept.popleft().body)
