"""How often a list is looked at: soon after it changed, and seldom while nothing does."""

from typing import Final

SOON: Final = 1.0
SELDOM: Final = 5.0
"""Seconds. All that waits is loaded each time, with whatever was asked along with it."""

_SLOWER: Final = 1.3


class Pace:
    """Seconds from one look to the next."""

    def __init__(self) -> None:
        self._within = SOON

    def after(self, *, changed: bool) -> float:
        """How long to wait now; changed: whether the last look saw something new."""
        self._within = SOON if changed else min(SELDOM, self._within * _SLOWER)
        return self._within
