"""Lists of sessions: newest first, page by page, each with what is open in it."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.testing.fake_clock import FakeClock


class Notes(State):
    text: str = ""


def asking(name: str) -> Workflow:
    phases = [Phase("Review", human=Approval(f"{name}?"), next="end"), Phase("end", terminal=True)]
    return Workflow(name, state=Notes, phases=phases)


@pytest.fixture(params=["memory", "sqlite"])
async def board(request: Any, tmp_path: Path) -> AsyncIterator[Callboard]:
    db = tmp_path / "cb.db" if request.param == "sqlite" else None
    workflows = [asking("trip"), asking("memo")]
    async with Callboard.open(db, workflows, clock=FakeClock()) as board:
        yield board


async def started(board: Callboard, *ids: str, workflow: str = "trip") -> None:
    for session_id in ids:
        await board.start(workflow, session_id=session_id)


async def ids(board: Callboard, **given: Any) -> list[str]:
    return [info.session_id for info in (await board.session_page(**given)).sessions]


async def test_pages_follow_each_other_newest_first(board: Callboard) -> None:
    clock = board.clock
    assert isinstance(clock, FakeClock)
    for number in range(7):
        await started(board, f"s{number}")
        await clock.advance(number % 2)
    found: list[str] = []
    cursor: str | None = None
    sizes: list[int] = []
    while True:
        page = await board.session_page(limit=3, cursor=cursor)
        found += [info.session_id for info in page.sessions]
        sizes.append(len(page.sessions))
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sizes == [3, 3, 1]
    assert found == [info.session_id for info in await board.sessions()]
    assert found == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]


async def test_a_full_page_that_is_the_last_says_so(board: Callboard) -> None:
    await started(board, "a", "b")
    assert (await board.session_page(limit=2)).next_cursor is None
    assert (await board.session_page(limit=1)).next_cursor is not None


async def test_what_begins_meanwhile_moves_no_page(board: Callboard) -> None:
    clock = board.clock
    assert isinstance(clock, FakeClock)
    await started(board, "a", "b", "c")
    first = await board.session_page(limit=2)
    await clock.advance(1)
    await started(board, "new")
    assert await ids(board, cursor=first.next_cursor) == ["a"]


async def test_sessions_are_found_by_what_they_are(board: Callboard) -> None:
    await started(board, "a-trip", "b-trip")
    await started(board, "c-memo", workflow="memo")
    await board.drive("a-trip")
    await board.cancel("b-trip")
    await board.fork("a-trip", position=1, run=False, session="fork")
    assert set(await ids(board)) == {"fork", "c-memo", "b-trip", "a-trip"}
    assert await ids(board, status="waiting") == ["a-trip"]
    assert await ids(board, status="cancelled") == ["b-trip"]
    assert await ids(board, workflow="memo") == ["c-memo"]
    assert await ids(board, workflow="memo", status="waiting") == []
    assert await ids(board, parent="a-trip") == ["fork"]
    assert await ids(board, q="MEMO") == ["c-memo"]
    assert await ids(board, q="review") == ["a-trip"]
    assert set(await ids(board, q="trip")) == {"fork", "b-trip", "a-trip"}
    assert await ids(board, q="100%") == []
    assert await ids(board, q="tri_") == []
    assert await ids(board, q="-trip", status="waiting", workflow="trip", limit=1) == ["a-trip"]


NOT_A_PLACE = [
    *(b"1", b"[]", b"[1]", b'["1","a"]', b"[1,2]", b'[1,"a",3]', b"\xff", b"{}"),
    *(b'[1.5,"a"]', b'[9223372036854775808,"a"]', b'[true,"a"]'),
]


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "é", "bm90IGpzb24=", "!!!!"),
        *(base64.urlsafe_b64encode(text).decode() for text in NOT_A_PLACE),
    ],
)
async def test_a_cursor_that_no_page_gave_is_refused(board: Callboard, cursor: str) -> None:
    with pytest.raises(ValidationError) as refused:
        await board.session_page(cursor=cursor)
    assert refused.value.field == "cursor"


async def test_a_page_has_at_least_one(board: Callboard) -> None:
    with pytest.raises(ValidationError) as refused:
        await board.session_page(limit=0)
    assert refused.value.field == "limit"


async def test_each_session_comes_with_its_own_questions(board: Callboard) -> None:
    await started(board, "a", "b")
    await started(board, "c", workflow="memo")
    for session_id in ("a", "c"):
        await board.drive(session_id)
    second = {"id": "second", "prompt": "And?", "type": "approval"}
    event = NewEvent(event_id(), names.REQUESTED, second, board.clock.now_ms() + 1)
    await board.log.append("a", [event])
    listed = {info.session_id: info for info in (await board.session_page()).sessions}
    assert [one.prompt for one in listed["a"].pending] == ["trip?", "And?"]
    assert list(listed["b"].pending) == []
    assert [one.prompt for one in listed["c"].pending] == ["memo?"]
    assert {info.session_id: info for info in await board.sessions()} == listed
    assert listed["a"] == await board.session("a")


async def test_more_questions_than_one_statement_takes(board: Callboard) -> None:
    begun = [
        NewEvent(event_id(), names.STARTED, {"workflow": "trip", "version": None}, 1),
        NewEvent(event_id(), names.REQUESTED, {"prompt": "?", "type": "approval"}, 1),
    ]
    for number in range(501):
        asked = begun[1]._replace(payload={**begun[1].payload, "id": f"q{number}"})
        await board.log.append(f"s{number}", [begun[0], asked])
    listed = await board.sessions()
    assert {info.session_id: info.pending[0].id for info in listed} == {
        f"s{number}": f"q{number}" for number in range(501)
    }


async def test_what_is_driven_now_is_said_to_run(tmp_path: Path) -> None:
    seen: list[dict[str, bool]] = []

    @agent
    async def look(state: Notes, ctx: Context) -> None:
        async with Callboard.open(tmp_path / "cb.db") as other:
            page = await other.session_page()
            seen.append({info.session_id: info.running for info in page.sessions})

    flow = Workflow("flow", state=Notes, phases=[Phase("a", agent=look, terminal=True)])
    async with Callboard.open(tmp_path / "cb.db", [flow]) as board:
        await board.start("flow", session_id="idle")
        await board.run(flow, session_id="driven")
        assert seen == [{"driven": True, "idle": False}]
        assert not any(info.running for info in await board.sessions())
