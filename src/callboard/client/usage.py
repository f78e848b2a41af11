"""What agents have used, and the budget, on a server."""

from typing import TYPE_CHECKING

from callboard.board.budgets import DailyBudget
from callboard.board.usage_reports import DAYS, UsageGroup, UsageReport, UsageSplit
from callboard.client.transport import Transport
from callboard.events.rows import where_given

if TYPE_CHECKING:
    from callboard.events.envelope import Json


class RemoteUsage:
    """What `Callboard.usage` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
        chosen = where_given(split=split, stream=stream)
        told = await self._transport.get("/usage", days=days, by=by, utcOffset=utc_offset, **chosen)
        return UsageReport.from_wire(told)

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        return DailyBudget.from_wire(await self._transport.get("/usage/budget"))

    async def set_budget(
        self, daily: float | None, *, utc_offset: int = 0, time_zone: str | None = None
    ) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing."""
        given: dict[str, Json] = {"daily": daily, "utcOffset": utc_offset}
        if time_zone is not None:  # Older servers refuse it.
            given["timeZone"] = time_zone
        return DailyBudget.from_wire(await self._transport.put("/usage/budget", given))
