"""A session with thousands of open questions costs no more to list than one with three."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from callboard import Approval, Callboard, Phase, Workflow
from callboard.engine.listing import LISTED, SHOWN
from callboard.engine.question_search import SoughtQuestions
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.log.sqlite.log import SqliteLog

MANY = 4_000

TRIP = Workflow("trip", state=dict, phases=[Phase("a", human=Approval("Go?"), terminal=True)])


def asked(number: int, **more: Any) -> NewEvent:
    prompt = f"Is {number} the right answer to question {number}, or is it not?"
    payload = {"id": f"q{number:05}", "prompt": prompt, "type": "approval", **more}
    return NewEvent(event_id(), names.REQUESTED, payload, 1_769_860_800_000 + number)


async def ask_many(board: Callboard, session: str, count: int, **more: Any) -> None:
    for first in range(0, count, 500):
        numbers = range(first, min(first + 500, count))
        await board.log.append(session, [asked(number, **more) for number in numbers])


@pytest.fixture(params=["memory", "sqlite"])
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Callboard:
    db = tmp_path / "x.db" if request.param == "sqlite" else None
    return Callboard.open(db, [TRIP])


class Steps:
    """How many steps a database has made, in tens."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._count = 0
        database.set_progress_handler(self._step, 10)

    def _step(self) -> None:
        self._count += 1

    def read(self) -> int:
        """How many they were since the last time."""
        found, self._count = self._count, 0
        return found


async def test_a_list_shows_the_first_few_and_says_how_many(board: Callboard):
    busy = await board.start("trip")
    await ask_many(board, busy, MANY)
    quiet = await board.start("trip")
    await ask_many(board, quiet, 1, id="alone")
    page = await board.session_page()
    listed = {info.session_id: info for info in page.sessions}
    assert [one.id for one in listed[busy].pending] == ["q00000", "q00001", "q00002"]
    assert (listed[busy].pending_count, listed[quiet].pending_count) == (MANY, 1)
    assert [one.id for one in listed[quiet].pending] == ["alone"]
    assert len(dump_json([info.to_wire() for info in page.sessions])) < 10_000
    shown = await board.session(busy)
    assert (len(shown.pending), shown.pending_count) == (SHOWN, MANY)
    assert shown.pending[0].id == "q00000"
    assert len(await board.inbox(busy)) == MANY
    await board.close()


async def test_long_questions_do_not_make_a_list_long(board: Callboard):
    config = {"context": "x" * 100_000}
    for _ in range(4):
        session = await board.start("trip")
        for number in range(LISTED):
            await board.log.append(session, [asked(number, id=event_id(), config=config)])
    page = await board.session_page()
    assert len(dump_json([info.to_wire() for info in page.sessions])) < 400_000
    assert [info.pending_count for info in page.sessions] == [LISTED] * 4
    assert len((await board.session(page.sessions[0].session_id)).pending) == LISTED
    await board.close()


async def test_a_page_of_the_inbox_ends_where_it_becomes_long(board: Callboard):
    session = await board.start("trip")
    await ask_many(board, session, 12, config={"context": "x" * 1_000_000})
    found: list[str] = []
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        page = await board.people.page(SoughtQuestions(session_id=session), cursor=cursor)
        assert len(dump_json([one.to_wire() for one in page.interactions])) < 4_000_000
        found += [one.id for one in page.interactions]
        cursor, pages = page.next_cursor, pages + 1
    assert found == [f"q{number:05}" for number in range(12)]
    assert pages == 5
    await board.close()


async def test_pages_of_the_inbox_meet(board: Callboard):
    session = await board.start("trip")
    await ask_many(board, session, 250)
    for limit in (99, 100, 101, 125, 250, 1000):
        found: list[str] = []
        cursor = None
        while not found or cursor is not None:
            page = await board.people.page(SoughtQuestions(), limit=limit, cursor=cursor)
            assert len(page.interactions) == min(limit, 250 - len(found))
            found += [one.id for one in page.interactions]
            cursor = page.next_cursor
        assert found == [f"q{number:05}" for number in range(250)]
    await board.close()


async def test_listing_and_answering_cost_the_same_however_many_are_open(tmp_path: Path):
    costs: list[list[int]] = []
    for count in (200, 4_000):
        board = Callboard.open(tmp_path / f"{count}.db", [TRIP])
        assert isinstance(board.log, SqliteLog)
        session = await board.start("trip")
        await ask_many(board, session, count)
        steps = Steps(board.log._reading)
        cost: list[int] = []
        for work in (board.session_page(), board.session(session), board.answer("q00100", "yes")):
            await work
            cost.append(steps.read())
        costs.append(cost)
        await board.close()
    few, many = costs
    assert all(dear <= cheap * 1.3 + 10 for cheap, dear in zip(few, many, strict=True))
