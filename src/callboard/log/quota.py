"""How much a reader of a log reads at once."""

from callboard.log.protocol import Limit, Portion

_FAR = 2**62


class Quota:
    """The remainder of a limit while events are read."""

    def __init__(self, limit: Limit) -> None:
        if not isinstance(limit, Portion):
            limit = Portion(_FAR if limit is None else limit, _FAR)
        self.events, self.size = limit

    @property
    def is_spent(self) -> bool:
        """Whether no more events should be read."""
        return self.events <= 0 or self.size <= 0
