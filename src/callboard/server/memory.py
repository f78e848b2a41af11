"""One budget for what all connections hold: bodies that arrive, answers that are not read.

No one may hold more than a share of it. When it runs out, the one that holds most is cut off, or
refused if that is the one who asks for more; a small request gets through whatever large ones do.
"""

from collections.abc import Callable
from typing import Final

from callboard.errors import Overloaded

SHARES: Final = 4
"""One caller may hold one of so many parts."""
HOLDING: Final = "callboard.holding"
"""Where a request finds what its connection holds."""
STREAMS: Final = "streams"
"""Who holds what streams share."""
_RETRY_AFTER: Final = 2


class MemoryBudget:
    """How many bytes connections hold together, and who holds them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0
        self.refused = 0
        """How often someone was refused or cut off for lack of memory."""
        self._held: dict[str, int] = {}
        self._holders: set[ConnectionMemory] = set()

    def holding(self, who: str, cut: Callable[[], None]) -> "ConnectionMemory":
        """What someone holds from now on; `cut` makes them let go of it."""
        return ConnectionMemory(self, who, cut)

    def share(self, who: str) -> int:
        """How much one caller may hold; what streams share is shared by many."""
        return self.most // (2 if who == STREAMS else SHARES)

    def add(self, holder: "ConnectionMemory", size: int) -> None:
        """Count what someone holds now, more or less than before."""
        holder.held += size
        self.used += size
        left = self._held.get(holder.who, 0) + size
        if left:
            self._held[holder.who] = left
        else:
            self._held.pop(holder.who, None)
        if holder.held:
            self._holders.add(holder)
        else:
            self._holders.discard(holder)

    def make_room(self, holder: "ConnectionMemory", size: int) -> None:
        """Cut off who holds most until there is room; Overloaded when that is who asks."""
        while (crowd := self._crowd(holder.who, size)) is not None:
            largest = max(crowd, key=lambda one: one.held, default=holder)
            self.refused += 1
            if largest is holder or largest.held <= holder.held + size:
                raise Overloaded(
                    "The server has no memory left for this: too much is being sent or waits to "
                    "be read. Try again in a moment, or send less at once.",
                    retry_after=_RETRY_AFTER,
                )
            largest.release()
            largest.cut()

    def _crowd(self, who: str, size: int) -> "list[ConnectionMemory] | None":
        """Those who have to make room: the others of the same caller, or all; None for enough."""
        if self._held.get(who, 0) + size > self.share(who):
            return [one for one in self._holders if one.who == who]
        if self.used + size > self.most:
            return list(self._holders)
        return None


class ConnectionMemory:
    """What one connection holds."""

    def __init__(self, memory: MemoryBudget, who: str, cut: Callable[[], None]) -> None:
        self.held = 0
        self.who = who
        self.cut = cut
        self._memory = memory

    def take(self, size: int) -> None:
        """Hold more; Overloaded when there is no room for it."""
        self._memory.make_room(self, size)
        self._memory.add(self, size)

    def take_anyway(self, size: int) -> None:
        """Hold more, whether there is room or not: what is done has to be answered."""
        self._memory.add(self, size)

    def give(self, size: int) -> None:
        """Hold less. Anyone who was cut off has given everything back already."""
        self._memory.add(self, -max(0, min(size, self.held)))

    def release(self) -> None:
        """Hold nothing."""
        self.give(self.held)

    def belongs_to(self, who: str) -> None:
        """Count it for someone else: the caller is known now."""
        held = self.held
        self.release()
        self.who = who
        self._memory.add(self, held)
