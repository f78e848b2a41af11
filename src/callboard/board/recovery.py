"""When a plate is stuck: the transcript went on, and no hook told us."""

from typing import Final

HEALTH_CHECK_INTERVAL_SECS: Final = 10
STALENESS_THRESHOLD_SECS: Final = 2
MAX_RECOVERY_TIME_SECS: Final = 12

ASLEEP_SECS: Final = 3 * HEALTH_CHECK_INTERVAL_SECS
"""A check that comes so late tells that the machine slept: times from before mean little."""
GRACE_SECS: Final = 10
"""After sleep, hooks that were on their way have so long to arrive."""


def is_stale(transcript_mtime_secs: float, last_event_secs: float) -> bool:
    """Whether the transcript was written after the last event that we know of."""
    return transcript_mtime_secs > last_event_secs + STALENESS_THRESHOLD_SECS


class Checks:
    """When to check: every ten seconds, and not in the grace period after sleep.

    looks_every: how often somebody asks. The last time that is early enough counts, so that a
    check is never late by the time in between.
    """

    def __init__(self, looks_every: float = 0.0) -> None:
        self._looks_every = looks_every
        self._last: float | None = None
        self._quiet_until = 0.0

    def due(self, now: float) -> bool:
        """Whether to check now, in seconds of a wall clock: it goes on while we sleep."""
        passed = None if self._last is None else round(now - self._last, 3)
        if passed is not None:
            if 0 <= passed < HEALTH_CHECK_INTERVAL_SECS and not self._is_last_look(passed):
                return False
            if passed < 0:  # A clock that was set back would else keep us from checking.
                self._quiet_until = 0.0
            elif passed > ASLEEP_SECS:
                self._quiet_until = now + GRACE_SECS
        self._last = now
        return now >= self._quiet_until

    def _is_last_look(self, passed: float) -> bool:
        return passed + self._looks_every > HEALTH_CHECK_INTERVAL_SECS
