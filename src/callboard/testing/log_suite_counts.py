# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: selecting columns and counting rows."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from callboard.errors import ValidationError
from callboard.events.rows import Change, Put, Query
from callboard.log.protocol import EventLog
from callboard.testing.log_suite_material import (
    Contract,
    OpenLog,
    changing,
    described,
    happened,
    session_row,
)
from callboard.testing.log_suite_views import wakeup


class CountContract(Contract):
    """Statistics read few columns of many rows."""

    @pytest.mark.parametrize(
        ("query", "rows"),
        [
            (Query("wakeups", at_least=("at", 2)), [("b", 2), ("d", 2), ("a", 3)]),
            (Query("wakeups", at_least=("at", 2), at_most=("at", 2)), [("b", 2), ("d", 2)]),
        ],
    )
    async def test_a_bound_can_be_the_least(
        self, log: EventLog, query: Query, rows: list[tuple[str, int]]
    ) -> None:
        changes = [wakeup("a", 3), wakeup("b", 2), wakeup("c", 1), wakeup("d", 2)]
        await log.append("s", [changing(*changes)])
        found = await log.rows(replace(query, order="at", columns=("session", "at")))
        assert found == [{"session": session, "at": at} for session, at in rows]

    async def test_rows_are_counted_by_columns(self, log: EventLog) -> None:
        told = [("a", 10), ("b", 11), ("a", 12), ("b", 25), ("a", 26), ("c", 9)]
        changes = [
            Put("wakeups", {"session": session, "key": f"{at}", "at": at}) for session, at in told
        ]
        await log.append("s", [changing(*changes)])
        query = Query(
            "wakeups",
            columns=("session", "at"),
            binned=("at", 10, 5),
            count=True,
            sums=("at",),
            order="at",
            descending=True,
            limit=5,  # The earliest is left out.
        )
        with pytest.raises(ValidationError):
            await log.rows(query)
        found = await log.rows(replace(query, sums=()))
        assert found == [
            {"session": "a", "at": 1, "count": 2},
            {"session": "a", "at": 3, "count": 1},
            {"session": "b", "at": 1, "count": 1},
            {"session": "b", "at": 3, "count": 1},
        ]
        summed = await log.rows(Query("wakeups", columns=("session",), count=True, sums=("at",)))
        assert summed == [
            {"session": "a", "count": 3, "at": 48},
            {"session": "b", "count": 2, "at": 36},
            {"session": "c", "count": 1, "at": 9},
        ]

    async def test_sessions_are_counted_by_status(self, open_log: OpenLog) -> None:
        log, other = open_log(described), open_log(described)
        assert _above_zero(await log.session_counts()) == {}
        for session in ("a", "b", "c"):
            await log.append(session, [changing(session_row(session, phase="p"))])
        await log.append("no session", [happened()])
        assert _above_zero(await log.session_counts()) == {"running": 3}
        await other.append("a", [changing(Change("sessions", {"id": "a"}, {"ended": "completed"}))])
        await other.append("d", [changing(session_row("d", pending=1))])
        found = await log.session_counts()
        assert _above_zero(found) == {"running": 2, "completed": 1, "waiting": 1}
        await other.delete("b")
        found = await log.session_counts()
        assert _above_zero(found) == {"running": 1, "completed": 1, "waiting": 1}


def _above_zero(counts: Mapping[str, int]) -> dict[str, int]:
    return {status: count for status, count in counts.items() if count}
