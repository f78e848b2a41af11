"""Whether the server can be reached, and when to try again."""

import asyncio
import logging
import random
from typing import Final

from callboard.clock import Clock
from callboard.waiting import wait_any

_log = logging.getLogger(__name__)

ASLEEP_SECS: Final = 10.0
"""If a short sleep takes this much longer, the machine was asleep."""
_SOONEST, _LATEST = 0.2, 30.0


class Backoff:
    """How long to wait after each failure in a row: longer each time, and never the same.

    Otherwise all relays would come back at once to a server that was restarted.
    """

    def __init__(self, soonest: float = _SOONEST, latest: float = _LATEST) -> None:
        self._soonest = soonest
        self._latest = latest
        self._next = soonest

    def reset(self) -> None:
        """It worked."""
        self._next = self._soonest

    def seconds(self, least: float = 0.0) -> float:
        """The seconds to wait now; `least` is what the server asks for."""
        chosen = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._latest, self._next * 2)
        return min(max(chosen, least), 2 * self._latest)


class ServerContact:
    """What the connections to one server know about it together.

    Each has a name. When one works again, the others try again at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._away: set[str] = set()
        self._told: set[str] = set()
        self._again = asyncio.Event()
        self.worked_at: dict[str, int] = {}
        """When each connection last had success."""
        self.problem: str | None = None
        """Why the server can't be reached now; None if it can be, or that isn't known yet."""

    def failed(self, connection: str, why: str) -> None:
        """A connection has no success. Each reason is logged once, until all of them work."""
        self._away.add(connection)
        reason = self.problem = why.rstrip(".")
        if reason not in self._told:
            self._told.add(reason)
            _log.warning(
                "The server can't be reached: %s. Reports are kept until it can be.", reason
            )

    def worked(self, connection: str) -> None:
        """A connection has success."""
        self.worked_at[connection] = self._clock.now_ms()
        if connection not in self._away:
            return
        self._away.discard(connection)
        if not self._away:
            self._told.clear()
            self.problem = None
            _log.info("The server can be reached again.")
        self.try_again()

    def try_again(self) -> None:
        """Something has changed: end all pauses."""
        again, self._again = self._again, asyncio.Event()
        again.set()

    async def pause(self, seconds: float) -> None:
        """Wait before the next attempt."""
        await wait_any(self._clock.sleep(seconds), self._again.wait())


class SleepWatch:
    """Notices that the machine was asleep, or the process stopped: connections may be dead then."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = self._now()

    def _now(self) -> tuple[float, float]:
        # On most systems, the monotonic clock stands still during sleep. The wall clock doesn't.
        return self._clock.monotonic(), self._clock.now_ms() / 1000

    def has_slept(self) -> bool:
        """Whether far more time has passed since the last call than a short sleep takes."""
        before, self._last = self._last, self._now()
        passed = (now - then for now, then in zip(self._last, before, strict=True))
        return max(passed) > ASLEEP_SECS
