"""How long to wait when the model refuses: a limit is no failure of the agent's."""

from dataclasses import dataclass
from typing import Final

from callboard.agents.claude_code.messages import Ending
from callboard.clock import Clock
from callboard.errors import RateLimited

_FIRST: Final = 60.0
_LONGEST: Final = 900.0


@dataclass(slots=True)
class Patience:
    """Waits for limits to end, for so many seconds in all."""

    clock: Clock
    left: float
    _next: float = _FIRST

    def wait(self, ending: Ending) -> float:
        """How many seconds to wait before the next try; RateLimited when that is too long."""
        seconds = self._known(ending) or self._guess()
        if seconds > self.left:
            raise RateLimited(
                f"Claude Code may not go on for {seconds:.0f} s: {ending.reason}",
                retry_after=round(seconds),
            )
        self.left -= seconds
        return seconds

    def _known(self, ending: Ending) -> float:
        if ending.resets_at is None:
            return 0.0
        return max(1.0, ending.resets_at - self.clock.now_ms() / 1000)

    def _guess(self) -> float:
        seconds, self._next = self._next, min(2 * self._next, _LONGEST)
        return seconds
