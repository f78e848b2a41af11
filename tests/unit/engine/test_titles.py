"""Titles of sessions: from the workflow, given at the start, changed later, inherited by forks."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.engine.titles import LONGEST
from callboard.errors import DefinitionError, PhaseError, ValidationError
from callboard.events import names
from callboard.events.rows import Query


class Trip(State):
    to: str = ""


def arrive(state: Trip, input: str) -> None:
    state.to = input.upper()


def flow(title: Any = None, name: str = "trip") -> Workflow:
    phases = [Phase("ask", human=Approval("Go?"), terminal=True)]
    return Workflow(name, state=Trip, phases=phases, start=arrive, title=title)


@pytest.fixture(params=["memory", "sqlite"])
async def board(request: Any, tmp_path: Path) -> AsyncIterator[Callboard]:
    db = tmp_path / "cb.db" if request.param == "sqlite" else None
    async with Callboard.open(
        db, [flow(), flow(lambda state: f"To {state.to}", "named")]
    ) as opened:
        yield opened


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (None, None),
        ("  A trip ", "A trip"),
        (lambda: "Fixed", "Fixed"),
        (lambda state: f"To {state.to}", "To LIMA"),
        (lambda state, input: f"{input} → {state.to}", "lima → LIMA"),
        (lambda state, input: None, None),
        (lambda state, input: "   ", None),
        (lambda state, input: "x" * 1000, "x" * (LONGEST - 1) + "…"),
    ],
)
async def test_a_workflow_gives_titles(title: Any, expected: str | None) -> None:
    async with Callboard.open(None, [flow(title)]) as board:
        session = await board.start("trip", "lima")
        assert (await board.session(session)).title == expected
        [started, *_] = await board.events(session)
        assert started.payload.get("title") == expected


async def test_a_title_that_was_given_wins(board: Callboard) -> None:
    session = await board.start("named", "lima", title="Summer")
    run = await board.run("named", "lima", title=" Winter ")
    plain = await board.start("named", "lima", title="")
    infos = [await board.session(one) for one in (session, run.session_id, plain)]
    assert [info.title for info in infos] == ["Summer", "Winter", "To LIMA"]


async def test_titles_that_do_not_fit(board: Callboard) -> None:
    session = await board.start("trip", "lima")
    for refused in (board.start("trip", "lima", title="x" * 201), board.rename(session, "x" * 201)):
        with pytest.raises(ValidationError, match="title: use at most 200 characters, not 201"):
            await refused
    with pytest.raises((DefinitionError, ValidationError), match="at most 200"):
        flow("x" * 201)

    def breaks(state: Trip) -> str:
        raise RuntimeError("No ink.")

    board.workflows["broken"] = flow(breaks, "broken")
    with pytest.raises(PhaseError, match="title of workflow 'broken' raised RuntimeError: No ink"):
        await board.start("broken", "lima", session_id="never")
    assert "never" not in [info.session_id for info in await board.sessions()]


async def test_renaming(board: Callboard) -> None:
    session = await board.start("trip", "lima")
    await board.cancel(session)
    events = await board.events(session)

    renamed = await board.rename(session, " Lima,\ndone ", by="ann")

    assert (renamed.title, renamed.status) == ("Lima,\ndone", "cancelled")
    assert await board.events(session) == events
    [told] = await board.log.read(f"title:{session}")
    assert told.name == names.TITLED
    assert told.payload == {"by": "ann", "sessionId": session, "title": "Lima,\ndone"}
    assert (await board.rename(session, None)).title is None


async def test_renaming_wakes_no_driver(board: Callboard) -> None:
    session = await board.start("trip", "lima")
    await board.drive(session)
    forked = await board.fork(session, run=False)

    await board.rename(session, "Lima")
    await board.rename(forked.session_id, "Again")

    assert await board.log.unsettled() == []
    assert await board.recover() == []


async def test_titles_are_searched_kept_and_deleted_with_the_session(board: Callboard) -> None:
    session = await board.start("trip", "lima", title="Anniversary")
    await board.rename(session, "Honeymoon 100%")
    other = await board.start("trip", "lima")

    async def found(text: str) -> list[str]:
        return [one.session_id for one in (await board.session_page(q=text)).sessions]

    assert await found("HONEY") == [session]
    assert await found("anniversary") == []
    await board.rebuild()
    assert await found("100%") == [session]
    await board.delete(session)
    assert await board.log.read(f"title:{session}") == []
    assert [row["id"] for row in await board.log.rows(Query("sessions"))] == [other]


Names = st.none() | st.text(max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["start", "rename", "fork"]), st.integers(0, 9), Names)))
async def test_the_last_title_counts_and_forks_inherit_it(
    steps: list[tuple[str, int, str | None]],
) -> None:
    expected: dict[str, str | None] = {}
    async with Callboard.open(None, [flow()]) as board:
        for what, index, title in [("start", 0, None), *steps]:
            known = list(expected)
            meant = known[index % len(known)] if known else ""
            text = (title or "").strip() or None
            if what == "start":
                expected[await board.start("trip", "x", title=title)] = text
            elif what == "rename":
                await board.rename(meant, title)
                expected[meant] = text
            else:
                forked = await board.fork(meant, run=False)
                expected[forked.session_id] = expected[meant]
        for _ in range(2):
            assert {one.session_id: one.title for one in await board.sessions()} == expected
            await board.rebuild()
