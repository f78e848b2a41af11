"""How many tokens a session of a coding agent has used, as its machine counts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.events.payloads.usage import CountedTokens
from callboard.events.shapes import Omitted, Shape
from callboard.state.usage_rows import count_of

MOST_TOTALS: Final = 1000
"""Hours and models of one session. More of them are not recorded."""
_LONGEST_MODEL: Final = 200
_MOST_DOLLARS: Final = 10**6


@dataclass(frozen=True, slots=True)
class HourTokens(Shape):
    """The tokens of one model in one hour. hour: when it starts, in milliseconds since 1970.

    long_cache_write_tokens: those of cache_write_tokens that the provider keeps for an hour.
    cost: in US dollars, if the client says what calls cost. Those without a price were free.
    """

    hour: int
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost: Omitted[float] = None
    long_cache_write_tokens: int = 0

    def told(self) -> CountedTokens:
        """As an event has it."""
        told: CountedTokens = {
            "hour": self.hour,
            "model": self.model,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cacheReadTokens": self.cache_read_tokens,
            "cacheWriteTokens": self.cache_write_tokens,
            "calls": self.calls,
        }
        if self.long_cache_write_tokens:
            told["longCacheWriteTokens"] = self.long_cache_write_tokens
        if self.cost is not None:
            told["cost"] = self.cost
        return told


@dataclass(frozen=True, slots=True)
class SessionTokens(Shape):
    """What a session has used. whole: whether all of its transcript is counted by now."""

    totals: Sequence[HourTokens]
    whole: bool

    @classmethod
    def checked(cls, told: Object) -> Self:
        """What another machine sent: anything that can't be right is left out."""
        hours = objects(told.get("totals"))[:MOST_TOTALS]
        return cls([_hour(one) for one in hours], told.get("whole") is True)


def _hour(told: Object) -> HourTokens:
    told = as_object(told)
    cost = told.get("cost")
    known = isinstance(cost, int | float) and 0 <= cost <= _MOST_DOLLARS
    return HourTokens(
        max(0, as_whole(told.get("hour"))),
        as_text(told.get("model"))[:_LONGEST_MODEL],
        count_of(told.get("inputTokens")),
        count_of(told.get("outputTokens")),
        count_of(told.get("cacheReadTokens")),
        count_of(told.get("cacheWriteTokens")),
        count_of(told.get("calls")),
        (round(float(cost), 9) or None) if known and isinstance(cost, int | float) else None,
        count_of(told.get("longCacheWriteTokens")),
    )
