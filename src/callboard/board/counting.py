"""What hooks sent, counted where `callboard hooks status` can read it without a server."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from callboard.board.places import write_counters
from callboard.errors import StoreError

_log = logging.getLogger(__name__)

EVERY: Final = 5.0
"""Seconds: it is for people who look, and each time is a file."""


class Counting:
    """Writes the counters down when they have changed, and not too often."""

    def __init__(self, folder: Path, counted: Callable[[], dict[str, Any]]) -> None:
        self._folder = folder
        self._counted = counted
        self._written: dict[str, Any] | None = None
        self._next = 0.0

    def write(self, now: float) -> None:
        """Write them, if it is time; `now` is seconds that never go back."""
        counted = self._counted()
        if now < self._next or counted == self._written:
            return
        self._next = now + EVERY
        try:
            write_counters(self._folder, counted)
            self._written = counted
        except StoreError as error:
            _log.warning("%s", error.message)
