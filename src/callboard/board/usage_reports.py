"""What agents have used: tokens and money, by day, project, plate, model and workflow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, Protocol

from callboard.board.prices import PriceList, load_prices
from callboard.clock import Clock
from callboard.engine.inbox import Inbox
from callboard.errors import PositionConflict, SessionExists, ValidationError
from callboard.events import usage
from callboard.events.authors import By, authored
from callboard.events.envelope import NewEvent
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.ids import event_id
from callboard.log.protocol import EventLog, Writing
from callboard.state.usage_rows import DAY_MS, NANOS

UsageGroup = Literal["day", "project", "plate", "model", "workflow"]

DAYS: Final = 30
MOST_DAYS: Final = 365
MOST_DAILY: Final = 1_000_000.0
"""The largest budget, in US dollars a day."""
_COUNTED: Final = 200_000
_MOST_ROWS: Final = 500
_SOME: Final = 500
_STREAM: Final = "budget:daily"
_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_GROUPED: Final[Mapping[UsageGroup, str]] = {
    "day": "day",
    "project": "project",
    "plate": "stream",
    "model": "model",
    "workflow": "stream",
}


@dataclass(frozen=True, slots=True)
class UsageSum(Shape):
    """Tokens, and what they cost in US dollars.

    cost: of the tokens whose price is known; None if none is. unpriced_tokens: the others.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    calls: int
    cost: float | None
    unpriced_tokens: int


@dataclass(frozen=True, slots=True)
class UsageRow(Shape):
    """One day, project, plate, model or workflow. key: a day is `2026-01-31`, a plate its id."""

    key: str
    label: str
    used: UsageSum


@dataclass(frozen=True, slots=True)
class DailyBudget(Shape):
    """The budget for a day, and what was spent today. daily: in US dollars; None: no budget."""

    daily: float | None
    spent: float
    unpriced_tokens: int


@dataclass(frozen=True, slots=True)
class UsageReport(Shape):
    """What agents have used over the last days, including today. Days are those of UTC.

    limited: there was more than could be counted. prices_date: when the prices were valid.
    prices_source: the file that they are from; empty for those that come with Callboard.
    """

    since: Millis
    days: int
    by: UsageGroup
    rows: list[UsageRow]
    total: UsageSum
    limited: bool
    prices_date: str
    prices_source: str
    budget: DailyBudget


class BoardUsage(Protocol):
    """The tokens and the money that agents use, and the budget."""

    async def report(self, *, days: int = DAYS, by: UsageGroup = "day") -> UsageReport:
        """What agents have used over the last days, including today."""
        ...

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        ...

    async def set_budget(self, daily: float | None) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing."""
        ...


@dataclass(slots=True)
class _Sum:
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    calls: int = 0
    cost: float | None = None
    unpriced: int = 0

    def add(self, row: Row, prices: PriceList) -> None:
        """Add the rows of one model, of which all or none have a cost."""
        for column in _COUNTS:
            self.counts[column] += row[column]
        self.calls += row["calls"]
        price = None if row["reported"] else prices.of(row["model"])
        if row["reported"]:
            self.cost = (self.cost or 0.0) + row["cost"] / NANOS
        elif price is not None:
            self.cost = (self.cost or 0.0) + price.cost(row)
        else:
            self.unpriced += sum(row[column] for column in _COUNTS)

    def done(self) -> UsageSum:
        """As people see it."""
        cost = None if self.cost is None else round(self.cost, 6)
        return UsageSum(**self.counts, calls=self.calls, cost=cost, unpriced_tokens=self.unpriced)


class UsageReports:
    """Answers from the view `token_usage`. prices: read when they are needed."""

    def __init__(
        self,
        log: EventLog,
        people: Inbox,
        clock: Clock,
        prices: Callable[[], PriceList] = load_prices,
    ) -> None:
        self._log = log
        self._people = people
        self._clock = clock
        self.prices = prices

    async def report(self, *, days: int = DAYS, by: UsageGroup = "day") -> UsageReport:
        """What agents have used over the last days, including today."""
        if not 1 <= days <= MOST_DAYS:
            raise ValidationError(f"days must be from 1 to {MOST_DAYS}, not {days}.", field="days")
        if by not in _GROUPED:
            raise ValidationError(f"by: use one of {', '.join(_GROUPED)}.", field="by")
        prices, since = self.prices(), self._today() - (days - 1) * DAY_MS
        rows = await self._rows(since, _GROUPED[by], _SOURCES.get(by))
        total = _Sum()
        for row in rows:
            total.add(row, prices)
        groups = await self._grouped(by, rows, prices, since, days)
        return UsageReport(
            since,
            days,
            by,
            groups,
            total.done(),
            sum(row["count"] for row in rows) >= _COUNTED,
            prices.date,
            prices.source,
            await self.budget(),
        )

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        spent, prices = _Sum(), self.prices()
        for row in await self._rows(self._today(), "day", None):
            spent.add(row, prices)
        done = spent.done()
        return DailyBudget(await self._daily(), done.cost or 0.0, done.unpriced_tokens)

    async def set_budget(self, daily: float | None, *, by: By = None) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing."""
        if daily is not None and not 0 < daily <= MOST_DAILY:
            raise ValidationError(
                f"daily: use an amount above 0 and up to {MOST_DAILY:,.0f} US dollars.",
                field="daily",
            )
        told = usage.BUDGET_SET({**authored(by), "daily": daily})
        while True:
            head = await self._log.head(_STREAM)
            event = NewEvent(event_id(), told.name, told.payload, self._clock.now_ms())
            try:
                await self._log.append(_STREAM, [event], Writing(expect=head, settle=True))
            except (PositionConflict, SessionExists):
                continue
            await self.check_budget()
            return await self.budget()

    async def check_budget(self) -> None:
        """Ask people if today's budget is spent: once for each day and amount."""
        found = await self.budget()
        if found.daily is None or found.spent < found.daily:
            return
        day = _date(self._today())
        more = " Tokens without a known price are not included." if found.unpriced_tokens else ""
        await self._people.ask(
            type="choice",
            prompt=f"Agents have spent ${found.spent:,.2f} today ({day}, UTC). The daily budget is "
            f"${found.daily:,.2f}.{more} Callboard stops nothing: agents continue until you stop "
            "them.",
            options=["Let them continue", "I will stop some of them"],
            config={"budget": {"day": day, "daily": found.daily, "spent": found.spent}},
            key=f"budget:{day}:{found.daily:g}",
        )

    # ------------------------------------------------------------------ the log

    def _today(self) -> int:
        return self._clock.now_ms() // DAY_MS * DAY_MS

    async def _daily(self) -> float | None:
        head = await self._log.head(_STREAM)
        events = await self._log.read(_STREAM, head - 1) if head else []
        told = events[-1].payload.get("daily") if events else None
        return float(told) if isinstance(told, int | float) else None

    async def _rows(self, since: int, column: str, source: str | None) -> list[Row]:
        columns = dict.fromkeys((column, "model", "reported"))
        return await self._log.rows(
            Query(
                "token_usage",
                {} if source is None else {"source": source},
                at_least=("day", since),
                columns=tuple(columns),
                count=True,
                sums=(*_COUNTS, "calls", "cost"),
                order="day",
                descending=True,
                limit=_COUNTED,
            )
        )

    async def _grouped(
        self, by: UsageGroup, rows: Sequence[Row], prices: PriceList, since: int, days: int
    ) -> list[UsageRow]:
        named = await self._names(by, {str(row[_GROUPED[by]]) for row in rows})
        sums: dict[tuple[str, str], _Sum] = {}
        if by == "day":
            each = (_date(since + number * DAY_MS) for number in range(days))
            sums = {(day, day): _Sum() for day in each}
        for row in rows:
            key = named(row[_GROUPED[by]])
            sums.setdefault(key, _Sum()).add(row, prices)
        found = [UsageRow(key, label, one.done()) for (key, label), one in sums.items()]
        if by != "day":
            found.sort(key=lambda one: (one.used.cost or 0.0, _tokens(one.used)), reverse=True)
        return found[:_MOST_ROWS] if by != "day" else found

    async def _names(self, by: UsageGroup, ids: set[str]) -> Callable[[str | int], tuple[str, str]]:
        """The key and the label of a group, by its value in the view."""
        if by == "day":
            return lambda day: _same(_date(int(day)))
        known: dict[str, str] = {}
        if by == "plate":
            for row in await self._some("plates", ids, ("id", "name", "project_path", "agent")):
                folder = str(row["project_path"]).rstrip("/").rpartition("/")[2]
                known[row["id"]] = row["name"] or folder or row["agent"]
            return lambda id: (str(id), known.get(str(id), str(id)))
        if by == "workflow":
            for row in await self._some("sessions", ids, ("id", "workflow")):
                known[row["id"]] = row["workflow"]
            return lambda id: _same(known.get(str(id), ""))
        return lambda value: _same(str(value))

    async def _some(self, table: str, ids: set[str], columns: Sequence[str]) -> Iterable[Row]:
        found: list[Row] = []
        listed = sorted(ids)
        for start in range(0, len(listed), _SOME):
            some = ("id", listed[start : start + _SOME])
            found += await self._log.rows(Query(table, one_of=some, columns=tuple(columns)))
        return found


_SOURCES: Final[Mapping[UsageGroup, str]] = {"plate": "plate", "workflow": "run"}
"""Groups that only some of the rows can be in."""


def _same(name: str) -> tuple[str, str]:
    """The key and the label of a group that is called what it is."""
    return name, name


def _date(day_ms: int) -> str:
    return datetime.fromtimestamp(day_ms / 1000, UTC).date().isoformat()


def _tokens(used: UsageSum) -> int:
    return used.input_tokens + used.output_tokens + used.cache_read_tokens + used.cache_write_tokens
