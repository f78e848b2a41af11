"""How long to wait when the model refuses: a limit is no failure of the agent's."""

from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from callboard.agents.claude_code.messages import Ending
from callboard.clock import Clock
from callboard.engine.context import Context
from callboard.errors import RateLimited, RetryAfter

_FIRST: Final = 60.0
_LONGEST: Final = 900.0


class _NotYet(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Patience:
    """Waits for limits to end, for so many seconds in all."""

    clock: Clock
    limit: float

    async def wait(self, ending: Ending, ctx: Context) -> RetryAfter:
        """When to try again; RateLimited when that is too long, with what was waited before."""
        waited = await _waits(ctx)
        seconds = self._known(ending) or min(_FIRST * 2 ** len(waited), _LONGEST)
        if sum(waited) + seconds > self.limit:
            raise RateLimited(
                f"Claude Code may not go on for {seconds:.0f} s: {ending.reason}",
                retry_after=round(seconds),
            )
        await ctx.once(_key(len(waited)), lambda: seconds)
        return RetryAfter(f"Claude Code may not go on: {ending.reason}", seconds=seconds)

    def _known(self, ending: Ending) -> float:
        """How long the limit lasts by what the model said; 0 when it said nothing of use."""
        left = (ending.resets_at or 0) - self.clock.now_ms() / 1000
        return max(left, 1.0) if left > 0 else 0.0


async def _waits(ctx: Context) -> list[float]:
    """How long this run has waited before, each time."""
    waited: list[float] = []
    for number in count():
        try:
            waited.append(float(await ctx.once(_key(number), _not_yet)))
        except _NotYet:
            return waited
    raise AssertionError("unreachable")


def _key(number: int) -> str:
    return f"claude:limit:{number}"


def _not_yet() -> Any:
    raise _NotYet
