"""What agents have used: tokens and money, by day, agent, project, plate, model and workflow."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from callboard.board.budgets import Budgets, DailyBudget, date_of
from callboard.board.plate import folder_name
from callboard.board.prices import PriceList
from callboard.board.usage_sums import MOST_COUNTED, UsageAdder, UsageSum, usage_rows
from callboard.clock import Clock
from callboard.engine.inbox import Inbox
from callboard.engine.statistics import MOST_OFFSET
from callboard.errors import ValidationError
from callboard.events.authors import By
from callboard.events.rows import Query, Row, where_given
from callboard.events.shapes import Millis, Shape
from callboard.log.protocol import EventLog
from callboard.state.statistics import Period
from callboard.vendors.agents import VENDORS

UsageGroup = Literal["day", "agent", "project", "plate", "model", "workflow"]
UsageSplit = Literal["agent", "model"]

DAYS: Final = 30
MOST_DAYS: Final = 365
_MOST_ROWS: Final = 500
_SOME: Final = 500
_COLUMNS: Final[Mapping[UsageGroup, str]] = {
    "day": "hour",
    "agent": "agent",
    "project": "project",
    "plate": "stream",
    "model": "model",
    "workflow": "stream",
}
_SOURCES: Final[Mapping[UsageGroup, str]] = {"plate": "plate", "workflow": "run"}
"""Groups that only some of the rows can be in."""
_WORKFLOWS: Final = "Workflows"
"""Where agents of workflows count that belong to no coding agent and no project."""


@dataclass(frozen=True, slots=True)
class UsagePart(Shape):
    """A part of a row: one model or agent."""

    key: str
    label: str
    used: UsageSum


@dataclass(frozen=True, slots=True)
class UsageRow(Shape):
    """One day, agent, project, plate, model or workflow.

    key: a day is `2026-01-31`, a plate its id. parts: what it consists of, if the report is split.
    """

    key: str
    label: str
    used: UsageSum
    parts: list[UsagePart]


@dataclass(frozen=True, slots=True)
class UsageReport(Shape):
    """What agents have used over the last days, including today.

    limited: there was more than could be counted. prices_date: when the prices were valid.
    prices_source: the file that they are from; empty for those that come with Callboard.
    unpriced_models: the models without a known price. uncounted_hosts: machines whose agents are
    not counted, because their owners don't let servers read there.
    """

    since: Millis
    days: int
    by: UsageGroup
    rows: list[UsageRow]
    total: UsageSum
    limited: bool
    prices_date: str
    prices_source: str
    unpriced_models: list[str]
    uncounted_hosts: list[str]
    budget: DailyBudget


class BoardUsage(Protocol):
    """The tokens and the money that agents use, and the budget.

    `utc_offset` is in minutes east of UTC, and determines when a day starts.
    """

    async def report(
        self,
        *,
        days: int = DAYS,
        by: UsageGroup = "day",
        split: UsageSplit | None = None,
        stream: str | None = None,
        utc_offset: int = 0,
    ) -> UsageReport:
        """What agents have used over the last days, including today.

        split: what the rows are divided into. stream: only this plate or session.
        """
        ...

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        ...

    async def set_budget(
        self, daily: float | None, *, utc_offset: int = 0, time_zone: str | None = None
    ) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing.

        time_zone: a name such as Europe/Berlin, which counts instead of `utc_offset`.
        """
        ...


@dataclass(slots=True)
class _Group:
    whole: UsageAdder = field(default_factory=UsageAdder)
    parts: dict[str, UsageAdder] = field(default_factory=dict[str, UsageAdder])


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Adds up rows of the view in groups. named: the key and the label of a group, by its value."""

    by: UsageGroup
    split: UsageSplit | None
    prices: PriceList
    period: Period
    named: Callable[[str | int], tuple[str, str]]

    def total(self, rows: Sequence[Row]) -> UsageSum:
        """All of them together."""
        total = UsageAdder()
        for row in rows:
            total.add(row, self.prices)
        return total.sum()

    def of(self, rows: Sequence[Row]) -> list[UsageRow]:
        """The groups: days in order, anything else by size."""
        groups: dict[tuple[str, str], _Group] = {}
        if self.by == "day":
            dates = (date_of(day) for day in range(self.period.first, self.period.last + 1))
            groups = {(date, date): _Group() for date in dates}
        for row in rows:
            group = groups.setdefault(self.named(row[_COLUMNS[self.by]]), _Group())
            group.whole.add(row, self.prices)
            if self.split is not None:
                part = group.parts.setdefault(row[self.split], UsageAdder())
                part.add(row, self.prices)
        found = [
            UsageRow(key, label, one.whole.sum(), _parts(self.split, one.parts))
            for (key, label), one in groups.items()
        ]
        if self.by == "day":
            return found
        return sorted(found, key=_size, reverse=True)[:_MOST_ROWS]


class UsageReports:
    """Answers from the view `token_usage`. prices: read when they are needed."""

    def __init__(
        self, log: EventLog, people: Inbox, clock: Clock, prices: Callable[[], PriceList]
    ) -> None:
        self._log = log
        self._clock = clock
        self._prices = prices
        self.budgets = Budgets(log, people, clock, prices)

    async def report(
        self,
        *,
        days: int = DAYS,
        by: UsageGroup = "day",
        split: UsageSplit | None = None,
        stream: str | None = None,
        utc_offset: int = 0,
    ) -> UsageReport:
        """What agents have used over the last days, including today."""
        _check("days", days, 1, MOST_DAYS)
        _check("utc_offset", utc_offset, -MOST_OFFSET, MOST_OFFSET)
        if by not in _COLUMNS:
            raise ValidationError(f"by: use one of {', '.join(_COLUMNS)}.", field="by")
        if split not in (None, "agent", "model"):
            raise ValidationError("split: use agent or model.", field="split")
        prices, period = self._prices(), Period(days, self._clock.now_ms(), utc_offset * 60_000)
        columns = [_COLUMNS[by], *([] if split is None else [split])]
        where = where_given(source=_SOURCES.get(by), stream=stream)
        rows = await usage_rows(self._log, period, columns, where)
        named = await self._names(by, {str(row[_COLUMNS[by]]) for row in rows})
        grouping = _Grouping(by, split, prices, period, named)
        # In a thread, because there can be many rows.
        found, total = await asyncio.to_thread(lambda: (grouping.of(rows), grouping.total(rows)))
        unpriced = {row["model"] for row in rows if not row["reported"]}
        return UsageReport(
            period.since_ms,
            days,
            by,
            found,
            total,
            sum(row["count"] for row in rows) >= MOST_COUNTED,
            prices.date,
            prices.source,
            sorted(one for one in unpriced if prices.of(one) is None),
            await self._uncounted(),
            await self.budget(),
        )

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        return await self.budgets.get()

    async def set_budget(
        self,
        daily: float | None,
        *,
        utc_offset: int = 0,
        time_zone: str | None = None,
        by: By = None,
    ) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing."""
        return await self.budgets.set(daily, utc_offset=utc_offset, time_zone=time_zone, by=by)

    async def _uncounted(self) -> list[str]:
        """Machines with a relay that may not read transcripts."""
        rows = await self._log.rows(Query("hosts", order="name"))
        return [row["name"] for row in rows if "read" not in json.loads(row["powers"])]

    async def _names(self, by: UsageGroup, ids: set[str]) -> Callable[[str | int], tuple[str, str]]:
        """The key and the label of a group, by its value in the view."""
        if by == "day":
            return lambda day: _same(date_of(int(day)))
        known: dict[str, str] = {}
        if by == "plate":
            for row in await self._some("plates", ids, ("id", "name", "project_path", "agent")):
                known[row["id"]] = row["name"] or folder_name(row["project_path"]) or row["agent"]
            return lambda id: (str(id), known.get(str(id), str(id)))
        if by == "workflow":
            for row in await self._some("sessions", ids, ("id", "workflow")):
                known[row["id"]] = row["workflow"]
            return lambda id: _same(known.get(str(id), ""))
        return lambda value: (str(value), _label(by, str(value)))

    async def _some(self, table: str, ids: set[str], columns: Sequence[str]) -> Iterable[Row]:
        found: list[Row] = []
        listed = sorted(ids)
        for start in range(0, len(listed), _SOME):
            some = ("id", listed[start : start + _SOME])
            found += await self._log.rows(Query(table, one_of=some, columns=tuple(columns)))
        return found


def _same(name: str) -> tuple[str, str]:
    """The key and the label of a group that is called what it is."""
    return name, name


def _parts(split: UsageSplit | None, parts: Mapping[str, UsageAdder]) -> list[UsagePart]:
    if split is None:
        return []
    found = [UsagePart(key, _label(split, key), one.sum()) for key, one in parts.items()]
    return sorted(found, key=_size, reverse=True)


def _label(by: UsageGroup, key: str) -> str:
    if by == "agent":
        return VENDORS[key].title if key in VENDORS else key or _WORKFLOWS
    if by == "model":
        return key or "Unknown model"
    return key or _WORKFLOWS


def _size(one: UsageRow | UsagePart) -> tuple[float, int]:
    return one.used.cost or 0.0, one.used.tokens


def _check(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValidationError(f"{field} must be from {least} to {most}, not {value}.", field=field)
