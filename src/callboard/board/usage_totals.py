"""How many tokens a session of a coding agent has used, as its machine counts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from callboard.events.json_values import Object, as_object, as_text, as_whole, objects
from callboard.events.payloads.usage import CountedTokens
from callboard.events.shapes import Millis, Omitted, Shape
from callboard.state.usage_rows import count_of

MOST_TOTALS: Final = 1000
"""Days and models of one session. More of them are not recorded."""
_LONGEST_MODEL: Final = 200
_MOST_DOLLARS: Final = 10**6


@dataclass(frozen=True, slots=True)
class DayTokens(Shape):
    """The tokens of one model on one day. day: when it starts, in UTC.

    cost: in US dollars, if the client says what each call cost.
    """

    day: Millis
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost: Omitted[float] = None

    def told(self) -> CountedTokens:
        """As an event has it."""
        told: CountedTokens = {
            "day": self.day,
            "model": self.model,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cacheReadTokens": self.cache_read_tokens,
            "cacheWriteTokens": self.cache_write_tokens,
            "calls": self.calls,
        }
        if self.cost is not None:
            told["cost"] = self.cost
        return told


@dataclass(frozen=True, slots=True)
class SessionTokens(Shape):
    """What a session has used. whole: whether all of its transcript is counted by now."""

    totals: Sequence[DayTokens]
    whole: bool

    @classmethod
    def checked(cls, told: Object) -> Self:
        """What another machine sent: anything that can't be right is left out."""
        days = objects(told.get("totals"))[:MOST_TOTALS]
        return cls([_day(one) for one in days], told.get("whole") is True)


def _day(told: Object) -> DayTokens:
    told = as_object(told)
    cost = told.get("cost")
    known = isinstance(cost, int | float) and 0 <= cost <= _MOST_DOLLARS
    return DayTokens(
        max(0, as_whole(told.get("day"))),
        as_text(told.get("model"))[:_LONGEST_MODEL],
        count_of(told.get("inputTokens")),
        count_of(told.get("outputTokens")),
        count_of(told.get("cacheReadTokens")),
        count_of(told.get("cacheWriteTokens")),
        count_of(told.get("calls")),
        float(cost) if known and isinstance(cost, int | float) else None,
    )
