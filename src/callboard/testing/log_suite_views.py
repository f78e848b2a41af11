# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: views, written along with the events and rebuilt from them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from callboard.errors import PositionConflict, ValidationError
from callboard.events.envelope import Event
from callboard.events.rows import KEYS, Cell, Change, Drop, Put, Query, Row
from callboard.log.protocol import Base, EventLog, Writing
from callboard.testing.log_suite_material import (
    AT,
    Contract,
    OpenLog,
    changing,
    described,
    happened,
    session_row,
    several,
)


def wakeup(session: str, at: int, key: str = "k") -> Put:
    """A row of a small view."""
    return Put("wakeups", {"session": session, "key": key, "at": at})


async def all_views(log: EventLog) -> dict[str, list[Row]]:
    """All rows of all views."""
    return {table: await log.rows(Query(table)) for table in KEYS}


async def column(log: EventLog, query: Query, name: str) -> Sequence[object]:
    """One column of a query's result."""
    return [row[name] for row in await log.rows(query)]


class ViewContract(Contract):
    """Rows follow the events: in the same commit, in the same order."""

    async def test_a_row_has_every_column(self, log: EventLog) -> None:
        await log.append("s", [changing(session_row("s"))])
        (row,) = await log.rows(Query("sessions"))
        told = {"id": "s", "workflow": "w", "created_at": AT}
        of_stream = {"status": "pending", "position": 1, "updated_at": AT, "owner": None}
        counted = ("paused", "pausing", "pending", "input_tokens", "output_tokens")
        counts = dict.fromkeys(counted, 0)
        ends = dict.fromkeys(("ended", "ended_at", "error", "held"))
        others = dict.fromkeys(("version", "source", "title", "parent", "fork_position", "phase"))
        assert row == {**told, **of_stream, **counts, **ends, **others, "phase_since": None}

    async def test_putting_again_replaces_the_whole_row(self, log: EventLog) -> None:
        await log.append("s", [changing(session_row("s", phase="p"))])
        await log.append("s", [changing(session_row("s", error="e"))])
        (row,) = await log.rows(Query("sessions"))
        assert (row["phase"], row["error"]) == (None, "e")

    async def test_changes_set_and_add(self, log: EventLog) -> None:
        change = Change("sessions", {"id": "s"}, {"phase": "p"}, {"pending": 2})
        await log.append("s", [changing(session_row("s")), changing(change, change)])
        await log.append("s", [changing(Change("sessions", {"id": "s"}, add={"pending": -1}))])
        (row,) = await log.rows(Query("sessions"))
        assert (row["phase"], row["pending"], row["status"]) == ("p", 3, "waiting")

    async def test_changes_concern_every_row_that_fits(self, log: EventLog) -> None:
        rows = [wakeup("a", 1, "x"), wakeup("a", 2, "y"), wakeup("b", 3, "x")]
        moves = [Change("wakeups", {"session": "a"}, {"at": 9}), Drop("wakeups", {"key": "y"})]
        await log.append("s", [changing(*rows, *moves)])
        assert await log.rows(Query("wakeups")) == [
            {"session": "a", "key": "x", "at": 9},
            {"session": "b", "key": "x", "at": 3},
        ]

    async def test_changes_keep_their_order(self, log: EventLog) -> None:
        """Batching statements must not make a difference."""
        named = {"session": "a", "key": "k"}
        steps = [
            wakeup("a", 1),
            Change("wakeups", named, add={"at": 1}),
            Change("wakeups", {"at": 2}, {"at": 10}),
            Change("wakeups", named, add={"at": 5}),
            Change("wakeups", named, {"at": 100}),
            Change("wakeups", named, add={"at": 1}),
            Drop("wakeups", {"at": 15}),
            Change("wakeups", named, {"key": "renamed"}),
            wakeup("b", 1),
            Drop("wakeups", {"session": "b", "key": "k"}),
            Change("wakeups", {"session": "b", "key": "k"}, add={"at": 1}),
            Drop("wakeups", {"session": "a"}),
        ]
        for end in range(1, len(steps) + 1):
            stream = f"s{end}"
            await log.append(stream, [changing(Drop("wakeups", {})), changing(*steps[:end])])
            together = await log.rows(Query("wakeups"))
            await log.append(stream, [changing(Drop("wakeups", {}))])
            for step in steps[:end]:
                await log.append(stream, [changing(step)])
            assert await log.rows(Query("wakeups")) == together

    async def test_adding_to_nothing_is_nothing(self, log: EventLog) -> None:
        named = {"id": "s"}
        erase = Change("sessions", named, {"ended_at": None})
        add = Change("sessions", named, add={"ended_at": 1})
        await log.append("s", [changing(session_row("s", ended_at=5)), changing(erase, add)])
        await log.append("t", [changing(session_row("t")), changing(erase), changing(add)])
        assert await column(log, Query("sessions"), "ended_at") == [None, None]

    async def test_a_refused_append_leaves_the_views_alone(self, log: EventLog) -> None:
        await log.append("s", [changing(session_row("s"))])
        with pytest.raises(PositionConflict):
            await log.append("s", [changing(session_row("t"))], Writing(expect=7))
        assert await column(log, Query("sessions"), "id") == ["s"]

    async def test_views_of_one_turn_are_written_in_its_order(self, log: EventLog) -> None:
        await asyncio.gather(
            log.append("a", [changing(wakeup("w", 1))]),
            log.append("b", [changing(Change("wakeups", {"session": "w"}, add={"at": 1}))]),
            log.append("c", [changing(Change("wakeups", {"at": 2}, {"at": 9}))]),
        )
        assert await column(log, Query("wakeups"), "at") == [9]

    async def test_the_projection_sees_each_event_under_its_own_stream(
        self, open_log: OpenLog
    ) -> None:
        seen: list[tuple[str, int]] = []

        def project(event: Event) -> list[Put]:
            seen.append((event.session_id, event.position))
            return [Put("checkpoints", {"session": event.session_id, "position": event.position})]

        log = open_log(project)
        await log.append("s", several(2))
        await log.append("fork", [happened("own")], Writing(base=Base("s", 1)))
        assert seen == [("s", 1), ("s", 2), ("fork", 2)]
        live = await all_views(log)
        assert await log.rebuild() == 3
        assert await all_views(log) == live

    async def test_rebuilding_gives_the_same_views(self, log: EventLog) -> None:
        for number in range(30):
            session = f"s{number % 7}"
            steps = [
                session_row(session, phase="p" if number % 2 else None),
                Change("sessions", {"id": session}, add={"pending": number % 3}),
                wakeup(session, number),
            ]
            await log.append(session, [changing(step) for step in steps])
        await log.append("s0", [changing(Drop("wakeups", {"session": "s0"}))])
        live = await all_views(log)
        assert await log.rebuild() == 91
        assert await all_views(log) == live

    async def test_rebuilding_forgets_what_events_no_longer_say(self, open_log: OpenLog) -> None:
        await open_log(described).append("s", [changing(session_row("s"), wakeup("s", 1))])
        log = open_log(lambda event: [wakeup(event.session_id, 5)])
        await log.rebuild()
        assert await log.rows(Query("sessions")) == []
        assert await column(log, Query("wakeups"), "at") == [5]

    async def test_a_rebuild_that_fails_changes_nothing(self, open_log: OpenLog) -> None:
        await open_log(described).append("s", [changing(session_row("s"))])

        def fails(event: Event) -> list[Put]:
            raise ZeroDivisionError

        log = open_log(fails)
        with pytest.raises(ZeroDivisionError):
            await log.rebuild()
        assert await column(log, Query("sessions"), "id") == ["s"]
        assert await log.head("s") == 1


_ASKED = Query("human_interactions", order="created_at")
_NEWEST = Query("sessions", order="created_at", descending=True)


class QueryContract(Contract):
    """Queries on a view."""

    @pytest.fixture
    async def filled(self, log: EventLog) -> EventLog:
        """A log with four sessions and their wakeups."""
        rows = [
            session_row("a", phase="p", created_at=4),
            session_row("b", phase="p", pending=1, created_at=3),
            session_row("c", parent="a", ended="failed", created_at=2),
            session_row("d", parent="a", paused=1, created_at=2),
        ]
        for row in rows:
            await log.append(str(row.row["id"]), [changing(row)])
        wakeups = [wakeup(session, at) for at, session in enumerate("dbca")]
        await log.append("d", [changing(*wakeups)])
        return log

    @pytest.mark.parametrize(
        ("query", "ids"),
        [
            (Query("sessions"), "abcd"),
            (Query("sessions", descending=True), "dcba"),
            (Query("sessions", {"parent": "a"}), "cd"),
            (Query("sessions", {"parent": None}), "ab"),
            (Query("sessions", {"parent": None, "phase": "p", "pending": 1}), "b"),
            (Query("sessions", {"status": "running"}), "a"),
            (Query("sessions", {"status": "waiting"}), "b"),
            (Query("sessions", {"status": "failed"}), "c"),
            (Query("sessions", {"status": "paused"}), "d"),
            (Query("sessions", {"status": "no such word"}), ""),
            (Query("sessions", {"position": 2}), "d"),
            (Query("sessions", order="created_at"), "cdba"),
            (_NEWEST, "abdc"),
            (Query("sessions", order="parent"), "abcd"),
            (Query("sessions", order="position", descending=True, limit=1), "d"),
            (Query("sessions", order="status"), "cdab"),
            (Query("sessions", limit=2), "ab"),
            (Query("sessions", limit=0), ""),
            (Query("sessions", at_most=("created_at", 3)), "bcd"),
            (Query("sessions", at_most=("ended_at", 3)), ""),
            (Query("sessions", {"updated_at": AT}, at_most=("position", 1)), "abc"),
            (Query("sessions", one_of=("id", ["d", "a", "x"])), "ad"),
            (Query("sessions", one_of=("id", [])), ""),
            (Query("sessions", one_of=("parent", ["a", None])), "cd"),
            (Query("sessions", {"parent": "a"}, one_of=("status", ["failed", "waiting"])), "c"),
            (Query("sessions", text=(["id"], "B")), "b"),
            (Query("sessions", text=(["parent", "phase"], "P")), "ab"),
            (Query("sessions", text=(["parent", "phase"], "")), "abcd"),
            (Query("sessions", text=(["ended"], "AIL")), "c"),
            (Query("sessions", text=(["id", "ended"], "%")), ""),
            (Query("sessions", text=(["id", "ended"], "_")), ""),
            (Query("sessions", text=(["id", "ended"], "a\x00")), ""),
            (Query("sessions", text=([], "a")), ""),
            (Query("sessions", beyond=("b",)), "cd"),
            (Query("sessions", beyond=("b",), descending=True), "a"),
            (Query("sessions", beyond=("c",), order="id", limit=1), "d"),
            (Query("sessions", beyond=(2, "c"), order="created_at"), "dba"),
            (replace(_NEWEST, beyond=(3, "b")), "dc"),
            (replace(_NEWEST, beyond=(3, "B")), "dc"),
            (replace(_NEWEST, beyond=(3, "bb")), "bdc"),
            (replace(_NEWEST, where={"status": "paused"}, beyond=(3, "b")), "d"),
        ],
    )
    async def test_a_question_finds_its_rows(
        self, filled: EventLog, query: Query, ids: str
    ) -> None:
        assert "".join(row["id"] for row in await filled.rows(query)) == ids

    @pytest.mark.parametrize(
        ("query", "ids"),
        [
            (_ASKED, "pqr"),
            (replace(_ASKED, where={"workflow": "w"}), "pq"),
            (replace(_ASKED, where={"workflow": None}), "r"),
            (replace(_ASKED, holds=("assigned_to", ['"ada"'])), "p"),
            (replace(_ASKED, holds=("assigned_to", ['"ad"'])), ""),
            (replace(_ASKED, holds=("assigned_to", ['"ada"', None])), "pr"),
            (replace(_ASKED, holds=("assigned_to", ['"bo"', '"ada"'])), "pq"),
            (replace(_ASKED, holds=("assigned_to", [])), ""),
        ],
    )
    async def test_questions_are_found_by_workflow_and_assignment(
        self, filled: EventLog, query: Query, ids: str
    ) -> None:
        assigned = {"p": '["ada","bo b"]', "q": '["bo"]', "r": None}
        for id, session in (("p", "a"), ("q", "b"), ("r", None)):
            told = {"id": id, "stream": id, "execution_id": session, "assigned_to": assigned[id]}
            row: dict[str, Cell] = {**told, "type": "approval", "prompt": "?", "created_at": AT}
            await filled.append(id, [changing(Put("human_interactions", row))])
        rows = await filled.rows(query)
        assert "".join(row["id"] for row in rows) == ids
        assert all((row["workflow"] == "w") == (row["id"] in "pq") for row in rows)
        assert await filled.rows(replace(query, count=True)) == [{"count": len(ids)}]

    async def test_rows_end_when_they_are_large_enough(self, log: EventLog) -> None:
        rows = [session_row(f"s{number}", phase="long" * 100) for number in range(4)]
        await log.append("s", [changing(*rows)])
        for text in (None, (["phase"], "long")):
            assert await column(log, Query("sessions", size=500, text=text), "id") == ["s0", "s1"]

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            (Query("sessions", count=True), 4),
            (Query("sessions", {"status": "waiting"}, count=True), 1),
            (Query("sessions", {"status": "completed"}, count=True), 0),
            (Query("sessions", {"parent": "a"}, at_most=("position", 1), count=True), 1),
            (Query("wakeups", at_most=("at", 2), order="at", count=True), 3),
        ],
    )
    async def test_rows_can_be_counted(self, filled: EventLog, query: Query, count: int) -> None:
        assert await filled.rows(query) == [{"count": count}]

    async def test_what_is_due_comes_in_order(self, filled: EventLog) -> None:
        query = Query("wakeups", at_most=("at", 2), order="at")
        assert await column(filled, query, "session") == ["d", "b", "c"]

    @pytest.mark.parametrize(
        "query",
        [
            Query("passwords"),
            Query("events"),
            Query("wakeups", {"position": 1}),
            Query("wakeups", order="at; DROP TABLE events"),
            Query("wakeups", at_most=("nothing", 1)),
            Query("wakeups", one_of=("nothing", [1])),
            Query("wakeups", text=(["key", "nothing"], "a")),
            Query("wakeups", holds=("nothing", ['"a"'])),
            Query("wakeups", order="nothing", beyond=(1, "s", "k")),
        ],
    )
    async def test_what_is_not_in_a_view_cannot_be_asked(self, log: EventLog, query: Query) -> None:
        with pytest.raises(ValidationError, match=r"There is no view|has no column"):
            await log.rows(query)

    @pytest.mark.parametrize(
        "query",
        [
            Query("wakeups", beyond=("s",)),
            Query("wakeups", beyond=("s", "k", 1)),
            Query("wakeups", order="at", beyond=(None, "s", "k")),
            Query("sessions", order="parent", beyond=("p", "s")),
            Query("sessions", order="updated_at", beyond=(1, "s")),
        ],
    )
    async def test_a_place_has_a_value_for_each_column_of_the_order(
        self, log: EventLog, query: Query
    ) -> None:
        with pytest.raises(ValidationError, match=r"needs a value for each|may be missing"):
            await log.rows(query)

    async def test_pages_give_every_row_once(self, log: EventLog) -> None:
        rows = [session_row(f"s{number}", created_at=number // 4) for number in range(21)]
        await log.append("s", [changing(*rows)])
        query = replace(_NEWEST, limit=4)
        everything = await log.rows(_NEWEST)
        found = page = await log.rows(query)
        while page:
            place = (page[-1]["created_at"], page[-1]["id"])
            page = await log.rows(replace(query, beyond=place))
            found = [*found, *page]
        assert found == everything
        assert len(found) == 21

    async def test_who_drives_a_session_stands_in_its_row(self, log: EventLog) -> None:
        await log.append("s", [changing(session_row("s"))], Writing(claim=True))
        assert await column(log, Query("sessions"), "owner") == [log.owner]
        await log.append("s", [], Writing(settle=True))
        assert await column(log, Query("sessions"), "owner") == [None]

    async def test_a_row_can_say_how_its_stream_stands(self, log: EventLog) -> None:
        query = Query("wakeups", with_stream=True)
        await log.append("s", [changing(wakeup("s", 1))], Writing(claim=True))
        await log.append("other", several(3))
        last = happened()
        await log.append("s", [happened(), last])
        (row,) = await log.rows(query)
        assert row == {
            "session": "s",
            "key": "k",
            "at": 1,
            "stream_head": 3,
            "stream_last": last.id,
            "stream_owner": log.owner,
            "stream_settled": 0,
        }
        await log.append("s", [], Writing(settle=True))
        (row,) = await log.rows(query)
        assert (row["stream_owner"], row["stream_settled"]) == (None, 3)

    async def test_a_fork_stands_by_itself(self, log: EventLog) -> None:
        await log.append("s", several(3))
        forked = changing(wakeup("fork", 1))
        await log.append("fork", [forked], Writing(expect=2, base=Base("s", 2)))
        (row,) = await log.rows(Query("wakeups", with_stream=True))
        assert (row["stream_head"], row["stream_last"]) == (3, forked.id)

    @pytest.mark.parametrize(
        "change",
        [
            Put("passwords", {"id": "a"}),
            session_row("s", status="completed"),
            session_row("s", nothing=1),
            Change("wakeups", {"nothing": 1}),
            Change("wakeups", {}, {"nothing": 1}),
            Change("wakeups", {}, add={"nothing": 1}),
            Drop("wakeups", {"nothing": 1}),
        ],
    )
    async def test_what_is_not_in_a_view_cannot_be_written(
        self, log: EventLog, change: Put | Change | Drop
    ) -> None:
        with pytest.raises(ValidationError):
            await log.append("s", [changing(change)])
        assert await log.head("s") == 0

    async def test_a_long_answer_is_whole(self, log: EventLog) -> None:
        rows = [wakeup(f"{number:05}", number) for number in range(2500)]
        await log.append("s", [changing(*rows)])
        assert await column(log, Query("wakeups"), "at") == list(range(2500))
