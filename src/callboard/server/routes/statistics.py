"""Statistics on runs: of all workflows, and of one."""

from typing import Annotated

from fastapi import Path, Query, Response

from callboard.engine.statistics import DAYS, MOST_DAYS, Overview, WorkflowStats
from callboard.server import routing
from callboard.server.access.requirement import Reads
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, UtcOffset, failures, gives

router = routing.router("workflows")

Days = Annotated[
    int, Query(ge=1, le=MOST_DAYS, description="How many days to look at, today included.")
]


@router.get("/overview", responses=gives(Overview) | failures())
async def show_overview(
    serving: Serving, _: Reads, days: Days = DAYS, utc_offset: UtcOffset = 0
) -> Response:
    """Get statistics on all workflows for the last days."""
    return reply(await serving.board.statistics.overview(days=days, utc_offset=utc_offset))


@router.get("/workflows/{workflow:path}/stats", responses=gives(WorkflowStats) | failures())
async def show_workflow_stats(
    serving: Serving,
    _: Reads,
    workflow: Annotated[str, Path(description="A workflow's id.", min_length=1)],
    days: Days = DAYS,
    utc_offset: UtcOffset = 0,
) -> Response:
    """Get statistics on one workflow for the last days; all zero if it was never run."""
    statistics = serving.board.statistics
    return reply(await statistics.workflow(workflow, days=days, utc_offset=utc_offset))
