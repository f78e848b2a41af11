"""Statistics on workflow runs, from counted rows.

Pure. The log counts (`callboard.events.rows.Query`), and this combines the counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from math import ceil
from typing import Annotated, Any, Final

from callboard.events.shapes import Millis, Shape
from callboard.events.status import Status

DAY_MS: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Spread(Shape):
    """The median and the 95th percentile of some durations."""

    p50: Annotated[int, "The median, in milliseconds."]
    p95: Annotated[int, "The 95th percentile, in milliseconds."]
    count: Annotated[int, "The number of durations."]


@dataclass(frozen=True, slots=True)
class DayOfRuns(Shape):
    """The runs that started on one day, by their current status."""

    day: Annotated[str, "The date, at the offset from UTC that was asked for."]
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    active: Annotated[int, "Running, waiting or paused."] = 0


@dataclass(frozen=True, slots=True)
class Outcomes(Shape):
    """The number of runs, by their current status."""

    runs: int
    completed: int
    failed: int
    cancelled: int
    active: Annotated[int, "Running, waiting or paused."]
    success_rate: Annotated[
        float | None,
        "The share of runs that completed, of those that completed or failed, from 0 to 1; null "
        "without any.",
    ]
    input_tokens: Annotated[int, "Tokens used, as far as agents report them."]
    output_tokens: int
    per_day: Annotated[list[DayOfRuns], "Every day of the period, oldest first."]


@dataclass(frozen=True, slots=True)
class WorkflowSummary(Outcomes):
    """One workflow in the overview."""

    workflow: str
    duration: Annotated[Spread | None, "How long runs that completed took, from start to end."]


@dataclass(frozen=True, slots=True)
class RecentRun(Shape):
    """One run that has ended."""

    session_id: str
    status: Status
    created_at: Millis
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Period:
    """A number of whole days up to now. A day starts `offset_ms` before it does in UTC."""

    days: int
    now_ms: int
    offset_ms: int = 0

    @property
    def last(self) -> int:
        """The number of today, counted from 1970."""
        return (self.now_ms + self.offset_ms) // DAY_MS

    @property
    def first(self) -> int:
        """The number of the first day."""
        return self.last - self.days + 1

    @property
    def since_ms(self) -> int:
        """When the first day starts."""
        return self.first * DAY_MS - self.offset_ms


def spread(durations: Iterable[int]) -> Spread | None:
    """The percentiles of some durations; None without any."""
    ordered = sorted(durations)
    if not ordered:
        return None
    return Spread(percentile(ordered, 50), percentile(ordered, 95), len(ordered))


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that at least this percentage of the values doesn't exceed."""
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


def outcomes(counted: Iterable[Mapping[str, Any]], period: Period) -> Outcomes:
    """The totals of rows of counts.

    Args:
        counted: Rows with `created_at`, the number of a day; `ended`, an outcome or None;
            `count`, `input_tokens` and `output_tokens`.
        period: The days to report.
    """
    rows = list(counted)
    by_day: dict[int, dict[str, int]] = {}
    total = {"completed": 0, "failed": 0, "cancelled": 0, "active": 0}
    for row in rows:
        kind = row["ended"] or "active"
        total[kind] += row["count"]
        # If a clock was set back, there may be sessions from tomorrow.
        day = by_day.setdefault(min(row["created_at"], period.last), {})
        day[kind] = day.get(kind, 0) + row["count"]
    decided = total["completed"] + total["failed"]
    return Outcomes(
        runs=sum(total.values()),
        **total,
        success_rate=total["completed"] / decided if decided else None,
        input_tokens=sum(row["input_tokens"] for row in rows),
        output_tokens=sum(row["output_tokens"] for row in rows),
        per_day=[
            DayOfRuns((_EPOCH + timedelta(number)).isoformat(), **by_day.get(number, {}))
            for number in range(period.first, period.last + 1)
        ],
    )


def summaries(
    counted: Iterable[Mapping[str, Any]],
    completed: Mapping[str, Iterable[Mapping[str, Any]]],
    period: Period,
) -> list[WorkflowSummary]:
    """The workflows in `completed`, in that order.

    Args:
        counted: As for `outcomes`, plus `workflow`.
        completed: The runs of each workflow that completed: `created_at`, `ended_at`.
        period: The days to report.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {workflow: [] for workflow in completed}
    for row in counted:
        if row["workflow"] in rows:
            rows[row["workflow"]].append(row)
    return [
        WorkflowSummary(
            **as_fields(outcomes(rows[workflow], period)),
            workflow=workflow,
            duration=spread(map(duration_of, runs)),
        )
        for workflow, runs in completed.items()
    ]


def busiest_workflows(counted: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """The workflows with the most runs, in rows as for `summaries`; the busiest first."""
    runs: Counter[str] = Counter()
    for row in counted:
        runs[row["workflow"]] += row["count"]
    return sorted(runs, key=lambda workflow: (-runs[workflow], workflow))[:most]


def recent_runs(rows: Iterable[Mapping[str, Any]], most: int) -> list[RecentRun]:
    """The first finished runs among rows with `id`, `created_at`, `ended`, `ended_at`."""
    ended = [row for row in rows if row["ended"] is not None]
    return [
        RecentRun(row["id"], row["ended"], row["created_at"], duration_of(row))
        for row in ended[:most]
    ]


def duration_of(row: Mapping[str, Any]) -> int:
    """How long a run took. Never negative, even if a clock was set back."""
    return max(0, row["ended_at"] - row["created_at"])


def as_fields(told: Outcomes) -> dict[str, Any]:
    """The fields of `Outcomes`, for a shape with more fields."""
    return {field.name: getattr(told, field.name) for field in fields(told)}
