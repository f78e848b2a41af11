"""A daily budget: people are asked when it is spent. Nothing is stopped."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from callboard.board.plate import folder_name
from callboard.board.prices import PriceList
from callboard.board.time_zones import checked_zone, offset_at
from callboard.board.usage_sums import UsageAdder, UsageSum, usage_rows
from callboard.clock import Clock
from callboard.display.amounts import dollars
from callboard.display.lines import one_line
from callboard.engine.inbox import Inbox
from callboard.engine.statistics import MOST_OFFSET
from callboard.errors import (
    ConflictError,
    NotFound,
    PositionConflict,
    SessionExists,
    ValidationError,
)
from callboard.events import usage
from callboard.events.authors import By, authored
from callboard.events.envelope import Json, NewEvent
from callboard.events.json_values import as_object, as_text
from callboard.events.shapes import Omitted, Shape
from callboard.ids import event_id, keyed_id
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog, Writing
from callboard.state.statistics import DAY_MS, Period

if TYPE_CHECKING:
    from callboard.events.payloads.usage import BudgetSetPayload

MOST_DAILY: Final = 1_000_000.0
"""The largest budget, in US dollars a day."""
_STREAM: Final = "budget:daily"
KEYS: Final = "budget:"
"""What the keys of questions about the budget start with."""
_START: Final = "Agents have spent"
_CONTINUE: Final = "Continue, and don't ask again today"
_NAMED: Final = 3
"""How many projects a question names."""
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class DailyBudget(Shape):
    """The budget for a day, and what was spent today.

    daily: in US dollars; None: no budget. limit: at how much people are asked today; more than
    `daily` if someone raised it for today. day: today, in the time zone of the budget, such as
    `2026-01-31`. utc_offset: that time zone now, in minutes east of UTC. interaction_id: the open
    question about it. time_zone: its name, if it is known.
    """

    daily: float | None
    limit: float | None
    spent: float
    unpriced_tokens: int
    day: str
    utc_offset: int
    interaction_id: str | None
    time_zone: Omitted[str] = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked today: how often the budget was raised, and the last question."""

    raises: int
    last: Interaction | None


@dataclass(frozen=True, slots=True)
class _Setting:
    """offset: that of the time zone now. number: how often the budget was set until then."""

    daily: float | None
    offset: int
    zone: str | None
    number: int


class Budgets:
    """The budget of a log, as the events in its stream have it."""

    def __init__(
        self, log: EventLog, people: Inbox, clock: Clock, prices: Callable[[], PriceList]
    ) -> None:
        self._log = log
        self._people = people
        self._clock = clock
        self._prices = prices
        self._tidied: tuple[str, int] | None = None

    async def get(self) -> DailyBudget:
        """The budget, and what was spent today."""
        setting = await self._setting()
        period = Period(1, self._clock.now_ms(), setting.offset * 60_000)
        spent, day = await self._spent(period), date_of(period.last)
        if setting.daily is None:
            return _budget(setting, None, spent, day, None)
        asked = await self._asked(day, setting)
        is_open = asked.last is not None and asked.last.status == "pending"
        limit = _limit(setting.daily, asked.raises)
        return _budget(setting, limit, spent, day, asked.last if is_open else None)

    async def set(
        self,
        daily: float | None,
        *,
        utc_offset: int = 0,
        time_zone: str | None = None,
        by: By = None,
    ) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget.

        time_zone: a name such as Europe/Berlin, which counts where it is known.
        """
        if daily is not None and not 0 < daily <= MOST_DAILY:
            raise ValidationError(
                f"daily: use an amount above 0 and up to {MOST_DAILY:,.0f} US dollars.",
                field="daily",
            )
        if not -MOST_OFFSET <= utc_offset <= MOST_OFFSET:
            raise ValidationError(
                f"utc_offset must be from {-MOST_OFFSET} to {MOST_OFFSET} minutes.",
                field="utc_offset",
            )
        self._prices()  # What is returned needs them: better refused now than after the change.
        zone = checked_zone(time_zone)
        payload: BudgetSetPayload = {**authored(by), "daily": daily, "utcOffset": utc_offset}
        if zone is not None:
            payload["timeZone"] = zone
        told = usage.BUDGET_SET(payload)
        while True:
            head = await self._log.head(_STREAM)
            event = NewEvent(event_id(), told.name, told.payload, self._clock.now_ms())
            with contextlib.suppress(PositionConflict, SessionExists):
                await self._log.append(_STREAM, [event], Writing(expect=head, settle=True))
                break
        await self.check()
        return await self.get()

    async def check(self) -> None:
        """Ask people if today's budget is spent, and withdraw questions that no longer apply.

        What was asked is known by its id, so it doesn't matter how often this is called, and by
        how many servers.
        """
        setting = await self._setting()
        period = Period(1, self._clock.now_ms(), setting.offset * 60_000)
        day = date_of(period.last)
        if self._tidied != (day, setting.number):
            await self._withdraw_others(day, setting)
            self._tidied = (day, setting.number)
        if setting.daily is None:
            return
        asked, spent = await self._asked(day, setting), await self._spent(period)
        if asked.last is None and (spent.cost or 0.0) >= _limit(setting.daily, asked.raises):
            await self._ask(day, setting, asked.raises, period)

    async def _ask(self, day: str, setting: _Setting, raises: int, period: Period) -> None:
        daily, spent = setting.daily or 0.0, await self._spent(period)
        cost, limit = spent.cost or 0.0, _limit(daily, raises)
        raised = f", raised to {dollars(limit)} for today" if raises else ""
        more = " Tokens without a known price are not included." if spent.unpriced_tokens else ""
        key = _key(day, setting.number, raises)
        await self._people.ask(
            type="choice",
            prompt=f"{_START} {dollars(cost)} today. The daily budget is {dollars(daily)}{raised}."
            f"\n\n{await self._largest(period)}{more}\n\n"
            "Nothing was stopped: agents continue until you stop them.",
            options=[_CONTINUE, _raise_option(daily, raises), "I will stop agents myself"],
            config={"budget": {"day": day, "limit": limit, "spent": cost, "key": key}},
            key=key,
        )

    async def _asked(self, day: str, setting: _Setting) -> _Asked:
        raises = 0
        while True:
            try:
                found = await self._people.get(_id(day, setting.number, raises))
            except NotFound:
                return _Asked(raises, None)
            if _answer(found) != _raise_option(setting.daily or 0.0, raises):
                return _Asked(raises, found)
            raises += 1

    async def _withdraw_others(self, day: str, setting: _Setting) -> None:
        """Withdraw open questions of other days and of earlier budgets."""
        current = "" if setting.daily is None else _key(day, setting.number)
        for one in await self._people.find(status="pending", type="choice", q=_START):
            if is_about_budget(one) and not (current and _key_of(one).startswith(current)):
                with contextlib.suppress(ConflictError, NotFound):
                    await self._people.cancel(one.id, error="It no longer applies.")

    async def _spent(self, period: Period) -> UsageSum:
        added, prices = UsageAdder(), self._prices()
        for row in await usage_rows(self._log, period, (), {}):
            added.add(row, prices)
        return added.sum()

    async def _largest(self, period: Period) -> str:
        """What most of it was spent on."""
        sums: dict[tuple[str, str], UsageAdder] = {}
        prices = self._prices()
        for row in await usage_rows(self._log, period, ("source", "project"), {}):
            sums.setdefault((row["source"], row["project"]), UsageAdder()).add(row, prices)
        spent = [(where, one.sum().cost or 0.0) for where, one in sums.items()]
        spent.sort(key=lambda one: one[1], reverse=True)
        named = [f"{_place(*where)} {dollars(cost)}" for where, cost in spent[:_NAMED] if cost]
        more = len([cost for _, cost in spent[_NAMED:] if cost])
        return f"Spent on: {', '.join(named)}{f' and {more} more' if more else ''}."

    async def _setting(self) -> _Setting:
        head = await self._log.head(_STREAM)
        events = await self._log.read(_STREAM, head - 1) if head else []
        told = as_object(events[-1].payload if events else None)
        daily, offset = told.get("daily"), told.get("utcOffset")
        zone = as_text(told.get("timeZone")) or None
        return _Setting(
            float(daily) if isinstance(daily, int | float) else None,
            offset_at(self._clock.now_ms(), zone, offset if isinstance(offset, int) else 0),
            zone,
            head,
        )


def date_of(day: int) -> str:
    """The date of a day, by its number: `2026-01-31`."""
    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).date().isoformat()


def is_about_budget(asked: Interaction) -> bool:
    """Whether the board asks this. Other questions can look like it, but don't have its id."""
    key = _key_of(asked)
    return key.startswith(KEYS) and asked.id == keyed_id("standalone", key)


def _key_of(asked: Interaction) -> str:
    return as_text(as_object(as_object(asked.config).get("budget")).get("key"))


def _limit(daily: float, raises: int) -> float:
    """At how much people are asked. As exact as costs are: 3 × 0.1 is a little more than 0.3."""
    return round(daily * (1 + raises), 6)


def _budget(
    setting: _Setting, limit: float | None, spent: UsageSum, day: str, asked: Interaction | None
) -> DailyBudget:
    return DailyBudget(
        setting.daily,
        limit,
        spent.cost or 0.0,
        spent.unpriced_tokens,
        day,
        setting.offset,
        None if asked is None else asked.id,
        setting.zone,
    )


def _place(source: str, project: str) -> str:
    """What something was spent on, in a sentence."""
    if source == "run":
        return "workflows"
    # An agent says in which folder it works.
    return one_line(folder_name(project) or project, _LONGEST_NAME) or "no project"


def _raise_option(daily: float, raises: int) -> str:
    return f"Raise today's budget to {dollars(_limit(daily, raises + 1))}"


def _answer(asked: Interaction) -> Json:
    return as_object(asked.response).get("value")


def _key(day: str, setting: int, raises: int | None = None) -> str:
    """What identifies a question; without `raises`, the start of all of a day."""
    return f"{KEYS}{day}:{setting}:{'' if raises is None else raises}"


def _id(day: str, setting: int, raises: int) -> str:
    return keyed_id("standalone", _key(day, setting, raises))
