"""A memory budget for all connections: incoming bodies and unread responses.

Each caller may hold only a share of it. When the budget runs out, the largest holder is cut off, or
refused if it is the one asking. A small request gets through no matter what large ones do.
"""

from collections.abc import Callable
from typing import Final

from callboard.errors import Overloaded

SHARES: Final = 4
"""The budget divided by this is one caller's share."""
HOLDING: Final = "callboard.holding"
"""The key of a connection's memory in the scope of its requests."""
STREAMS: Final = "streams"
"""The holder of what streams share."""
_RETRY_AFTER: Final = 2


class MemoryBudget:
    """How many bytes connections hold in total, and who holds them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0
        self.refused = 0
        """How often a caller was refused or cut off for lack of memory."""
        self._held: dict[str, int] = {}
        self._holders: set[ConnectionMemory] = set()

    def holding(self, who: str, cut: Callable[[], None]) -> "ConnectionMemory":
        """Start counting for a holder; `cut` makes it free its memory."""
        return ConnectionMemory(self, who, cut)

    def share(self, who: str) -> int:
        """How much a caller may hold. What streams share belongs to many callers."""
        return self.most // (2 if who == STREAMS else SHARES)

    def add(self, holder: "ConnectionMemory", size: int) -> None:
        """Change what a holder holds; `size` may be negative."""
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
        """Cut off the largest holders to make room; Overloaded if that is the caller."""
        while (crowd := self._crowd(holder.who, size)) is not None:
            largest = max(crowd, key=lambda one: one.held, default=holder)
            self.refused += 1
            if largest is holder or largest.held <= holder.held + size:
                raise Overloaded(
                    "The server is out of memory for this request: too many bodies and unread "
                    "responses. Try again in a moment, or send less at once.",
                    retry_after=_RETRY_AFTER,
                )
            largest.release()
            largest.cut()

    def _crowd(self, who: str, size: int) -> "list[ConnectionMemory] | None":
        """The candidates for freeing memory: the same caller's, or all; None if there is room."""
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
        """Hold more; Overloaded if there is no room."""
        self._memory.make_room(self, size)
        self._memory.add(self, size)

    def take_anyway(self, size: int) -> None:
        """Hold more, even without room: completed work has to be answered."""
        self._memory.add(self, size)

    def give(self, size: int) -> None:
        """Hold less. A connection that was cut off holds nothing anymore."""
        self._memory.add(self, -max(0, min(size, self.held)))

    def release(self) -> None:
        """Hold nothing."""
        self.give(self.held)

    def belongs_to(self, who: str) -> None:
        """Attribute it to someone else, now that the caller is known."""
        held = self.held
        self.release()
        self.who = who
        self._memory.add(self, held)
