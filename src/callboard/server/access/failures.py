"""Wrong tokens are counted by where they come from; too many are told to wait."""

from collections import OrderedDict, deque
from math import ceil
from typing import Final

from callboard.clock import Clock

ALLOWED: Final = 10
"""How many wrong tokens one address may send in a window, unless told."""
WINDOW: Final = 60.0
"""Seconds."""
_MOST_ADDRESSES = 1024


class Failures:
    """The wrong tokens of the last minute. Right ones are never asked about here."""

    def __init__(self, clock: Clock, allowed: int = ALLOWED) -> None:
        self._clock = clock
        self._allowed = max(0, allowed)
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, address: str) -> int | None:
        """Count one more; gives the seconds to wait when that is too many, else None."""
        now = self._clock.monotonic()
        times = self._by_address.setdefault(address, deque(maxlen=self._allowed))
        self._by_address.move_to_end(address)
        if len(self._by_address) > _MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        while times and now - times[0] >= WINDOW:
            times.popleft()
        if len(times) == self._allowed:
            oldest = times[0] if times else now
            return max(1, ceil(oldest + WINDOW - now))
        times.append(now)
        return None
