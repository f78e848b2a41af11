"""How much a reader of a log takes at once."""

from callboard.log.protocol import Limit, Portion

_FAR = 2**62


class Quota:
    """What is left of a limit while events are read."""

    def __init__(self, limit: Limit) -> None:
        portion = limit if isinstance(limit, Portion) else None
        self._size = _FAR if portion is None else portion.size
        if isinstance(limit, Portion):
            self.events = limit.events
        else:
            self.events = _FAR if limit is None else limit

    @property
    def is_spent(self) -> bool:
        """Whether no further event is wanted."""
        return self.events <= 0 or self._size <= 0

    def spend(self, size: int) -> None:
        """Count the bytes of an event, or of what it refers to."""
        self._size -= size
