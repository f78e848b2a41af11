"""What agents have used, and the budget."""

from typing import Annotated

from fastapi import Query, Request, Response

from callboard.board.budgets import DailyBudget
from callboard.board.usage_reports import DAYS, MOST_DAYS, UsageGroup, UsageReport, UsageSplit
from callboard.server import routing
from callboard.server.access.requirement import Operates, Reads
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, UtcOffset, failures, gives
from callboard.server.schemas import BudgetRequest

router = routing.router("usage", "/usage")


@router.get("", responses=gives(UsageReport) | failures())
async def show_usage(
    serving: Serving,
    _: Reads,
    days: Annotated[
        int, Query(ge=1, le=MOST_DAYS, description="How many days to look at, today included.")
    ] = DAYS,
    by: Annotated[UsageGroup, Query(description="What the rows are.")] = "day",
    split: Annotated[UsageSplit | None, Query(description="What rows are divided into.")] = None,
    stream: Annotated[str | None, Query(description="Only this plate or session.")] = None,
    utc_offset: UtcOffset = 0,
) -> Response:
    """Get the tokens that agents have used, and what they cost."""
    report = serving.board.usage.report
    return reply(await report(days=days, by=by, split=split, stream=stream, utc_offset=utc_offset))


@router.get("/budget", responses=gives(DailyBudget) | failures())
async def show_budget(serving: Serving, _: Reads) -> Response:
    """Get the budget for a day, and what was spent today."""
    return reply(await serving.board.usage.budget())


@router.put("/budget", responses=gives(DailyBudget) | failures())
async def set_budget(
    request: Request, serving: Serving, caller: Operates, given: BudgetRequest
) -> Response:
    """Ask people once a day when this much was spent; null for no budget. It stops nothing."""
    await check_person(serving, request, "change the budget")
    return reply(
        await serving.board.usage.set_budget(
            given.daily, utc_offset=given.utc_offset, time_zone=given.time_zone, by=caller.name
        )
    )
