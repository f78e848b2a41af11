"""Sums of what agents have used, from the view `token_usage`: tokens, and money at list prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.board.prices import PriceList
from callboard.events.rows import Cell, Query, Row
from callboard.events.shapes import Shape
from callboard.log.protocol import EventLog
from callboard.state.statistics import DAY_MS, Period
from callboard.state.usage_rows import NANOS

MOST_COUNTED: Final = 200_000
"""How many rows of the view are added up, the newest ones."""
_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_SUMS: Final = (*_COUNTS, "long_cache_write_tokens", "calls", "cost")


@dataclass(frozen=True, slots=True)
class UsageSum(Shape):
    """Tokens, and what they cost in US dollars.

    input_tokens: without those that were read from or written to a cache, which have other prices.
    cost: of the tokens whose price is known; None if none is. unpriced_tokens: the others.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost: float | None
    unpriced_tokens: int

    @property
    def tokens(self) -> int:
        """All of them."""
        cached = self.cache_read_tokens + self.cache_write_tokens
        return self.input_tokens + self.output_tokens + cached


@dataclass(slots=True)
class UsageAdder:
    """Adds up rows of `token_usage`, each of one model, with or without a reported cost."""

    _counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    _calls: int = 0
    _cost: float | None = None
    _unpriced: int = 0

    def add(self, row: Row, prices: PriceList) -> None:
        """Add a row."""
        for column in _COUNTS:
            self._counts[column] += row[column]
        self._calls += row["calls"]
        price = None if row["reported"] else prices.of(row["model"])
        if row["reported"]:
            self._cost = (self._cost or 0.0) + row["cost"] / NANOS
        elif price is not None:
            self._cost = (self._cost or 0.0) + price.cost(row)
        else:
            self._unpriced += sum(row[column] for column in _COUNTS)

    def sum(self) -> UsageSum:
        """What was added."""
        cost = None if self._cost is None else round(self._cost, 6)
        return UsageSum(
            **self._counts, calls=self._calls, cost=cost, unpriced_tokens=self._unpriced
        )


async def usage_rows(
    log: EventLog, period: Period, by: Sequence[str], where: Mapping[str, Cell]
) -> list[Row]:
    """What was used in a period, by columns of the view and by model. `hour` has a day's number."""
    return await log.rows(
        Query(
            "token_usage",
            where,
            at_least=("hour", period.since_ms),
            columns=tuple(dict.fromkeys((*by, "model", "reported"))),
            binned=("hour", DAY_MS, period.offset_ms),
            count=True,
            sums=_SUMS,
            order="hour",
            descending=True,
            limit=MOST_COUNTED,
        )
    )
