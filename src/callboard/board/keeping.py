"""Plates as this process knows them, for as long as their streams have not grown."""

from dataclasses import dataclass
from typing import Final

from callboard.board.plate import Plate

MOST: Final = 1000
"""How many plates are kept."""


@dataclass(frozen=True, slots=True)
class Known:
    """A plate, and how long its stream is that tells so."""

    head: int
    plate: Plate


class Kept:
    """The plates that were written last.

    A plate is what its stream tells: whoever else changes it makes the stream longer.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: dict[str, Known] = {}

    def at(self, plate_id: str, head: int) -> Known | None:
        """The plate, if it is kept as it is with a stream of this length."""
        known = self._kept.get(plate_id)
        return known if known is not None and known.head == head else None

    def keep(self, known: Known) -> None:
        """Keep a plate in place of what it was; the oldest gives way."""
        self._kept.pop(known.plate.plate_id, None)
        self._kept[known.plate.plate_id] = known
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
