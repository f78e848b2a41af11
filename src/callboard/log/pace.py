"""Whether the disk is quick enough to wait for it in the event loop."""

_SLOW = 0.002
_LONGEST = 0.010
_WEIGHT = 0.1
_PROBE_EVERY = 32


class Pace:
    """A moving average of how long commits held the event loop up.

    Only commits made in the loop count: in a thread the time also holds waiting for the
    interpreter, and would keep the log in the thread for good. While the disk is slow, one
    group in a few dozen is still committed in the loop, to see whether that is over.
    """

    def __init__(self) -> None:
        self._average = 0.0
        self._skipped = 0

    def quick(self) -> bool:
        """Whether the next group should be committed in the loop."""
        if self._average <= _SLOW:
            return True
        self._skipped = (self._skipped + 1) % _PROBE_EVERY
        return self._skipped == 0

    def note(self, seconds: float) -> None:
        """Take one commit into account; a single long one (a checkpoint) decides nothing."""
        self._average += (min(seconds, _LONGEST) - self._average) * _WEIGHT
