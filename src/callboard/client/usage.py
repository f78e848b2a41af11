"""What agents have used, and the budget, on a server."""

from callboard.board.usage_reports import DAYS, DailyBudget, UsageGroup, UsageReport
from callboard.client.transport import Transport


class RemoteUsage:
    """What `Callboard.usage` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def report(self, *, days: int = DAYS, by: UsageGroup = "day") -> UsageReport:
        """What agents have used over the last days, including today."""
        return UsageReport.from_wire(await self._transport.get("/usage", days=days, by=by))

    async def budget(self) -> DailyBudget:
        """The budget, and what was spent today."""
        return DailyBudget.from_wire(await self._transport.get("/usage/budget"))

    async def set_budget(self, daily: float | None) -> DailyBudget:
        """Ask people once a day when this much was spent; None for no budget. It stops nothing."""
        return DailyBudget.from_wire(await self._transport.put("/usage/budget", {"daily": daily}))
