"""What holds of the board on its log, whatever clients send and in whatever order."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.board.boards import Board
from tests.unit.vendors.recordings import recorded
from tests.unit.vendors.test_recorded import CLAUDE

from callboard.board.plate import Plate
from callboard.board.transition import STATUSES
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.events.json_values import as_object
from callboard.events.rows import Query
from callboard.vendors.reports import HookRequest, Report

# ---------------------------------------------------------------------- any reports

details = st.fixed_dictionaries(
    {},
    optional={
        "toolName": st.sampled_from(["AskUserQuestion", "ExitPlanMode", "Bash"]),
        "toolInput": st.sampled_from([{"command": "ls"}, {"command": "pwd"}]),
        "subagent": st.sampled_from(["a1", "a2"]),
        "error": st.just("boom"),
        "prompt": st.text(max_size=5),
        "answers": st.just({"Which?": "A"}),
        "todos": st.just([{"id": "1", "text": "x", "status": "pending"}]),
        "background": st.just([{"id": "a1", "kind": "subagent", "description": ""}]),
    },
)
signals = st.builds(Entry, st.sampled_from(sorted(events.FROM_AGENTS)), details)
reports = st.builds(
    Report,
    agent=st.just("claude"),
    session_id=st.sampled_from(["s1", "s2", "s3"]),
    signals=st.lists(signals, min_size=1, max_size=2).map(tuple),
    raw=st.just({"raw": True}),
    pid=st.sampled_from([None, 1, 2]),
    proc_start=st.sampled_from([None, "10"]),
    git_branch=st.sampled_from([None, "main"]),
    project_path=st.sampled_from([None, "/p"]),
    continues=st.booleans(),
    request=st.just(HookRequest("permission", "May I?", {})),
    hold=st.sampled_from([None, "h1", "h2", "h3"]),
)
heard = st.lists(st.tuples(reports, st.integers(-3000, 3000)), max_size=15)


async def play(board: Board, told: Sequence[tuple[Report, int]]) -> None:
    for report, offset in told:
        board.clock.skip(1)
        at_ms = board.clock.now_ms() + offset
        await board.plates.hear(replace(report, at_ms=at_ms))


async def rows(board: Board) -> dict[str, list[dict[str, Any]]]:
    tables = ["plates", "plate_sessions", "human_interactions"]
    found = {table: [dict(row) for row in await board.log.rows(Query(table))] for table in tables}
    return {table: sorted(listed, key=repr) for table, listed in found.items()}


async def folded(board: Board, plate_id: str) -> Plate:
    """The plate that its events tell, one after the other."""
    told: dict[str, Any] = {}
    for event in await board.log.read(plate_id):
        told |= as_object(event.payload.get("plate"))
    return Plate.from_json(told)


@given(heard)
def test_the_row_is_what_the_events_tell_and_what_a_rebuild_makes(
    told: list[tuple[Report, int]],
):
    async def check() -> None:
        board = Board()
        await play(board, told)
        for plate in await board.plates.all(dismissed=True):
            assert plate.status in STATUSES
            assert plate == await folded(board, plate.plate_id)
            assert plate == await board.plates.get(plate.plate_id)  # As it is kept.
        before = await rows(board)
        await board.log.rebuild()
        assert await rows(board) == before

    asyncio.run(check())


@given(heard)
def test_the_same_reports_make_the_same_plates(told: list[tuple[Report, int]]):
    async def check() -> None:
        one, other = Board(), Board()
        await play(one, told)
        await play(other, told)
        assert await _without_ids(one) == await _without_ids(other)

    asyncio.run(check())


async def _without_ids(board: Board) -> list[Plate]:
    """Who comes to an id that is taken gets another one, and that is chance."""
    found = [replace(plate, plate_id="") for plate in await board.plates.all(dismissed=True)]
    return sorted(found, key=repr)


@given(heard)
def test_a_question_is_open_just_as_long_as_its_dialog(told: list[tuple[Report, int]]):
    async def check() -> None:
        board = Board()
        await play(board, told)
        waiting = await board.log.rows(Query("human_interactions", {"status": "pending"}))
        shown = [
            one.id
            for plate in await board.plates.all(dismissed=True)
            for one in plate.pending
            if one.id is not None
        ]
        assert sorted(row["id"] for row in waiting) == sorted(shown)

    asyncio.run(check())


# ---------------------------------------------------------------------- recorded, out of order


def stamped(scenario: str) -> list[dict[str, Any]]:
    """The payloads of a scenario up to the end of its last turn, each with its moment."""
    payloads = recorded("claude", scenario)
    last = max(i for i, one in enumerate(payloads) if one["hook_event_name"] == "Stop")
    return [
        {**one, "callboard": {"sent_at": 1_769_860_000_000 + 100 * index}}
        for index, one in enumerate(payloads[: last + 1])
    ]


@pytest.mark.parametrize("scenario", sorted(CLAUDE))
@given(data=st.data())
@settings(max_examples=15)
def test_hooks_that_overtake_each_other_end_in_the_same_status(scenario: str, data: st.DataObject):
    """Each arrives at most three places from where it belongs, and says when it happened."""
    payloads = stamped(scenario)
    places = data.draw(
        st.lists(st.integers(0, 3), min_size=len(payloads), max_size=len(payloads)), label="places"
    )
    order = sorted(range(len(payloads)), key=lambda index: (index + places[index], index))

    async def check() -> None:
        plate = await last([payloads[index] for index in order])
        expected = await last(payloads)
        assert (plate.status, plate.pending, plate.subagents) == ("idle", (), ())
        assert (plate.last_message, plate.todos) == (expected.last_message, expected.todos)

    asyncio.run(check())


async def last(payloads: list[dict[str, Any]]) -> Plate:
    board = Board()
    return [await board.payload("claude", payload) for payload in payloads][-1]
