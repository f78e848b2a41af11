"""Counted rows → numbers: percentiles, days, rates."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.state.statistics import (
    DAY_MS,
    Period,
    busiest_workflows,
    outcomes,
    percentile,
    recent_runs,
    spread,
    summaries,
)

NOW = 20_000 * DAY_MS + 5 * 3_600_000
ENDED = st.sampled_from([None, "completed", "failed", "cancelled"])


def counted(day: int, ended: str | None, count: int = 1, **more: Any) -> dict[str, Any]:
    row = {"created_at": day, "ended": ended, "count": count}
    return {**row, "input_tokens": 0, "output_tokens": 0, **more}


@given(st.lists(st.integers(0, 10**9), min_size=1), st.sampled_from([50, 95]))
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(
    values: list[int], percent: int
) -> None:
    ordered = sorted(values)
    found = percentile(ordered, percent)

    def share(limit: int) -> Fraction:
        return Fraction(sum(value <= limit for value in values), len(values))

    assert found in values
    assert share(found) >= Fraction(percent, 100)
    assert all(share(value) < Fraction(percent, 100) for value in values if value < found)


@pytest.mark.parametrize(
    ("values", "p50", "p95"), [([7], 7, 7), ([1, 2], 1, 2), (range(1, 101), 50, 95)]
)
def test_percentiles_by_hand(values: list[int], p50: int, p95: int) -> None:
    found = spread(values)
    assert found is not None
    assert (found.p50, found.p95, found.count) == (p50, p95, len(values))


def test_no_values_have_no_percentiles() -> None:
    assert spread([]) is None


@given(
    st.lists(st.tuples(st.integers(19_970, 20_000), ENDED, st.integers(1, 50)), max_size=40),
    st.integers(1, 30),
)
def test_every_run_is_counted_once(rows: list[tuple[int, str | None, int]], days: int) -> None:
    period = Period(days, NOW)
    kept = [counted(*row) for row in rows if row[0] >= period.first]
    told = outcomes(kept, period)
    assert told.runs == sum(row["count"] for row in kept)
    assert told.runs == told.completed + told.failed + told.cancelled + told.active
    assert len(told.per_day) == days
    for kind in ("completed", "failed", "cancelled", "active"):
        assert sum(getattr(day, kind) for day in told.per_day) == getattr(told, kind)
    assert [day.day for day in told.per_day] == sorted({day.day for day in told.per_day})


def test_days_and_rates_by_hand() -> None:
    period = Period(3, NOW)
    rows = [
        counted(19_998, "completed", 3, input_tokens=10, output_tokens=1),
        counted(20_000, "failed", 1, input_tokens=5),
        counted(20_000, None, 2),
        counted(20_001, "cancelled"),  # A clock was set back since.
    ]
    told = outcomes(rows, period)
    assert (told.runs, told.success_rate, told.active) == (7, 0.75, 2)
    assert (told.input_tokens, told.output_tokens) == (15, 1)
    assert [(day.day, day.completed, day.failed, day.cancelled) for day in told.per_day] == [
        ("2024-10-02", 3, 0, 0),
        ("2024-10-03", 0, 0, 0),
        ("2024-10-04", 0, 1, 1),
    ]
    assert outcomes([], period).success_rate is None


@pytest.mark.parametrize(
    ("offset_hours", "last"), [(0, 20_000), (-6, 19_999), (-4, 20_000), (20, 20_001)]
)
def test_a_day_begins_where_the_reader_is(offset_hours: int, last: int) -> None:
    offset = offset_hours * 3_600_000
    period = Period(30, NOW, offset)
    assert period.last == last
    assert period.since_ms == (last - 29) * DAY_MS - offset
    assert period.since_ms <= NOW - 29 * DAY_MS


def test_workflows_come_busiest_first_with_their_own_durations() -> None:
    rows = [
        counted(20_000, "completed", workflow="a"),
        counted(19_999, "failed", 4, workflow="b"),
        counted(20_000, "completed", 1, workflow="b"),
    ]
    assert busiest_workflows(rows, 1) == ["b"]
    done = {"a": [{"created_at": 5, "ended_at": 25}], "b": []}
    order = busiest_workflows(rows, 2)
    busy, quiet = summaries(rows, {one: done[one] for one in order}, Period(2, NOW))
    assert (busy.workflow, busy.runs, busy.duration) == ("b", 5, None)
    assert (quiet.workflow, quiet.runs) == ("a", 1)
    assert quiet.duration is not None
    assert quiet.duration.p50 == 20


def test_recent_runs_are_those_that_ended() -> None:
    rows = [
        {"id": "now", "created_at": 9, "ended": None, "ended_at": None},
        {"id": "bad", "created_at": 8, "ended": "failed", "ended_at": 10},
        {"id": "odd", "created_at": 7, "ended": "completed", "ended_at": 5},
        {"id": "old", "created_at": 1, "ended": "completed", "ended_at": 5},
    ]
    told = recent_runs(rows, 2)
    assert [(one.session_id, one.duration_ms) for one in told] == [("bad", 2), ("odd", 0)]
