"""Statistics from the views of a log: how runs went, and how long they and people took."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from callboard.clock import Clock
from callboard.engine.listing import session_alone
from callboard.engine.sessions import SessionInfo
from callboard.errors import SessionNotFound, ValidationError
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.log.protocol import EventLog
from callboard.state.statistics import (
    DAY_MS,
    Outcomes,
    Period,
    RecentRun,
    Spread,
    WorkflowSummary,
    as_fields,
    busiest_workflows,
    duration_of,
    outcomes,
    recent_runs,
    spread,
    summaries,
)

DAYS: Final = 30
MOST_DAYS: Final = 365
MOST_OFFSET: Final = 14 * 60
"""The largest offset of any time zone from UTC, in minutes."""

COUNTED: Final = 100_000
"""Only the newest runs, up to this many, are counted, which limits the cost of a query."""
SAMPLED: Final = 2000
"""How many of the newest runs of a workflow durations are taken from."""
_SAMPLED_IN_ALL: Final = 10_000
"""How many runs the overview reads for durations, in equal parts for the workflows it shows."""
_ANSWERS: Final = 10_000
_RECENT: Final = 100
_WORKFLOWS: Final = 200
_ANSWERED: Final = frozenset(("completed", "approved", "rejected"))


@dataclass(frozen=True, slots=True)
class Overview(Shape):
    """How the runs of all workflows went."""

    since: Millis
    days: int
    limited: Annotated[
        bool, f"Whether there were more than {COUNTED:,} runs; if so, only the newest are counted."
    ]
    total: Outcomes
    workflows: Annotated[
        list[WorkflowSummary],
        f"The busiest first, at most {_WORKFLOWS}, without workflows that had no runs.",
    ]


@dataclass(frozen=True, slots=True)
class WorkflowStats(Outcomes):
    """How the runs of one workflow went."""

    workflow: str
    since: Millis
    days: int
    limited: Annotated[
        bool, f"Whether there were more than {COUNTED:,} runs; if so, only the newest are counted."
    ]
    duration: Annotated[
        Spread | None,
        f"How long runs that completed took, from start to end: the newest {SAMPLED:,}.",
    ]
    answer_time: Annotated[
        Spread | None, f"How long people took to answer, in the newest {SAMPLED:,} runs."
    ]
    recent: Annotated[list[RecentRun], f"The newest runs that ended, at most {_RECENT}."]
    last_failure: Annotated[SessionInfo | None, "The newest run that failed."]


class Statistics:
    """Answers from the log's views. Every query has an index and a limit."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def overview(self, *, days: int = DAYS, utc_offset: int = 0) -> Overview:
        """All workflows over the last days, including today."""
        period = self._period(days, utc_offset)
        counted = await self._counted(period, ("workflow",))
        busiest = busiest_workflows(counted, _WORKFLOWS)
        completed = await self._completed(period, busiest)
        # Many workflows make many rows; other tasks can run in the meantime.
        told = await asyncio.to_thread(summaries, counted, completed, period)
        total = await asyncio.to_thread(outcomes, counted, period)
        limited = await self._is_limited(total.runs, period)
        return Overview(period.since_ms, days, limited, total, told)

    async def workflow(
        self, workflow: str, *, days: int = DAYS, utc_offset: int = 0
    ) -> WorkflowStats:
        """One workflow over the last days, including today; all zero if it never ran."""
        period = self._period(days, utc_offset)
        told = outcomes(await self._counted(period, (), workflow), period)
        runs = await self._runs(period, workflow)
        done = [duration_of(run) for run in runs if run["ended"] == "completed"]
        return WorkflowStats(
            **as_fields(told),
            workflow=workflow,
            since=period.since_ms,
            days=days,
            limited=await self._is_limited(told.runs, period, workflow),
            duration=spread(done),
            answer_time=spread(await self._waits([run["id"] for run in runs])),
            recent=recent_runs(runs, _RECENT),
            last_failure=await self._last_failure(period, workflow),
        )

    def _period(self, days: int, utc_offset: int) -> Period:
        _check("days", days, 1, MOST_DAYS)
        _check("utc_offset", utc_offset, -MOST_OFFSET, MOST_OFFSET)
        return Period(days, self._clock.now_ms(), utc_offset * 60_000)

    async def _counted(
        self,
        period: Period,
        by: Sequence[str],
        workflow: str | None = None,
        *,
        limit: int = COUNTED,
    ) -> list[Row]:
        return await self._log.rows(
            Query(
                "sessions",
                {} if workflow is None else {"workflow": workflow},
                at_least=("created_at", period.since_ms),
                columns=(*by, "created_at", "ended"),
                binned=("created_at", DAY_MS, period.offset_ms),
                count=True,
                sums=("input_tokens", "output_tokens"),
                order="created_at",
                descending=True,
                limit=limit,
            )
        )

    async def _is_limited(self, counted: int, period: Period, workflow: str | None = None) -> bool:
        """Whether there are more runs than were counted."""
        if counted < COUNTED:
            return False
        rows = await self._counted(period, (), workflow, limit=COUNTED + 1)
        return sum(row["count"] for row in rows) > COUNTED

    async def _completed(self, period: Period, workflows: Sequence[str]) -> dict[str, list[Row]]:
        """Runs that completed, of the newest of each workflow, however busy the others are."""
        each = min(SAMPLED, _SAMPLED_IN_ALL // max(1, len(workflows)))
        return {
            workflow: [
                run
                for run in await self._runs(period, workflow, each)
                if run["ended"] == "completed"
            ]
            for workflow in workflows
        }

    async def _runs(self, period: Period, workflow: str, limit: int = SAMPLED) -> list[Row]:
        return await self._log.rows(
            Query(
                "sessions",
                {"workflow": workflow},
                at_least=("created_at", period.since_ms),
                columns=("id", "created_at", "ended", "ended_at"),
                order="created_at",
                descending=True,
                limit=limit,
            )
        )

    async def _waits(self, sessions: Sequence[str]) -> list[int]:
        """How long the answered questions of these sessions waited for people."""
        if not sessions:
            return []
        rows = await self._log.rows(
            Query(
                "human_interactions",
                one_of=("execution_id", sessions),
                columns=("status", "created_at", "resolved_at"),
                limit=_ANSWERS,
            )
        )
        return [
            max(0, row["resolved_at"] - row["created_at"])
            for row in rows
            if row["status"] in _ANSWERED and row["resolved_at"] is not None
        ]

    async def _last_failure(self, period: Period, workflow: str) -> SessionInfo | None:
        failed = await self._log.rows(
            Query(
                "sessions",
                {"workflow": workflow, "ended": "failed"},
                at_least=("created_at", period.since_ms),
                columns=("id",),
                order="created_at",
                descending=True,
                limit=1,
            )
        )
        if not failed:
            return None
        try:
            return await session_alone(self._log, failed[0]["id"], self._clock.now_ms())
        except SessionNotFound:  # Deleted in the meantime.
            return None


def _check(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValidationError(f"{field} must be from {least} to {most}, not {value}.", field=field)
