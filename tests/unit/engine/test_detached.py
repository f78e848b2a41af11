"""Interactive sessions that do not block their workflow, and outlive it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from callboard import (
    Approval,
    Callboard,
    HumanInteractive,
    Interactive,
    Phase,
    State,
    Workflow,
    agent,
)
from callboard.drivers.watching import WatchingDriver
from callboard.errors import AlreadyAnswered, InteractionClosed, InteractionNotFound
from callboard.events.envelope import Event
from callboard.events.rows import KEYS, Query
from callboard.interactions.records import Interaction
from callboard.testing.fake_clock import FakeClock


@agent
async def broken(state: State) -> None:
    raise ValueError("no")


def flow(name: str = "flow", agent: Any = None) -> Workflow:
    return Workflow(
        name,
        state=State,
        phases=[Phase("a", human=Approval("On?"), next="b"), Phase("b", agent, terminal=True)],
    )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def board(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[Callboard]:
    db = None if request.param == "memory" else tmp_path / "cb.db"
    async with Callboard.open(db, [flow(), flow("failing", broken)], clock=clock) as board:
        yield board


async def ask(board: Callboard, session: str | None, **config: Any) -> Interaction:
    return await board.people.ask(
        type="interactive_session",
        prompt="Look at this",
        session_id=session,
        config={"blockOrchestration": False, **config},
    )


async def end_workflow(board: Callboard, session: str, how: str) -> None:
    if how == "cancelled":
        await board.cancel(session)
    else:
        [question] = [one for one in await board.inbox(session) if one.phase]
        await board.answer(question.id, "yes")
        await board.drive(session)
    assert (await board.session(session)).status == how


async def left_behind(board: Callboard, how: str = "completed", **config: Any) -> Interaction:
    """A session of a workflow that has ended since."""
    workflow = "failing" if how == "failed" else "flow"
    session = await board.start(workflow)
    await board.drive(session)
    asked = await ask(board, session, **config)
    await end_workflow(board, session, how)
    return await board.interaction(asked.id)


def named(events: list[Event]) -> list[str]:
    return [event.name for event in events]


@pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
async def test_it_stays_open_when_its_workflow_ends(board: Callboard, how: str):
    asked = await left_behind(board, how)
    assert asked.session_id is not None
    assert (asked.status, asked.error) == ("pending", None)
    events = await board.events(asked.session_id)
    assert events[-1].name == f"workflow:{how}"
    [detached] = [event for event in events if event.name == "input:detached"]
    assert detached.payload == {"id": asked.id, "stream": asked.id}
    assert await board.inbox(asked.session_id) == [asked]
    assert await board.human.list_pending("*") == [asked]

    before = len(events)
    await board.people.claim(asked.id, by="ann")
    ended = await board.people.complete(asked.id, "completed", response="fine", by="ann")
    assert (ended.status, ended.response, ended.session_id) == (
        "completed",
        "fine",
        asked.session_id,
    )
    assert await board.interaction(asked.id) == ended
    assert len(await board.events(asked.session_id)) == before
    assert named(await board.log.read(asked.id)) == ["input:claimed", "input:received"]
    assert await board.log.unsettled() == []
    with pytest.raises(AlreadyAnswered):
        await board.people.complete(asked.id, "completed")


async def test_the_tables_can_be_made_again_from_the_log(board: Callboard):
    asked = await left_behind(board)
    for _ in range(2):
        before = {table: await board.log.rows(Query(table)) for table in KEYS}
        await board.rebuild()
        assert {table: await board.log.rows(Query(table)) for table in KEYS} == before
        if asked.status == "pending":
            asked = await board.people.complete(asked.id, "failed", error="broken off")


@pytest.mark.parametrize("how", ["completed", "cancelled", "timeout", "failed", "taken back"])
async def test_it_can_end_in_every_way(board: Callboard, how: str):
    asked = await left_behind(board)
    if how == "taken back":
        ended = await board.people.cancel(asked.id)
    else:
        ended = await board.people.complete(asked.id, how)
    assert ended.status == ("cancelled" if how == "taken back" else how)
    assert await board.inbox() == []


async def test_who_waits_for_it_hears_of_its_end(board: Callboard):
    session = await board.start("flow")
    await board.drive(session)
    interactive = HumanInteractive[str](board, session)
    ended = interactive.request_async("Look at this", block_orchestration=False)
    while interactive.session_id is None:
        await asyncio.sleep(0)
    await end_workflow(board, session, "completed")
    for _ in range(100):  # Whoever waits has heard of the end of the workflow, and waits on.
        await asyncio.sleep(0)
    await board.people.complete(interactive.session_id, "completed", response="fine")
    result = await ended
    assert (result.outcome, result.response) == ("completed", "fine")


async def test_of_many_at_once_the_first_end_counts(board: Callboard):
    """Also where the stream in which it lives has yet to begin."""
    asked = await left_behind(board)
    told = await asyncio.gather(
        *(board.people.complete(asked.id, "completed", response=n) for n in range(5)),
        *(
            Callboard(board.log, clock=board.clock).people.complete(asked.id, "failed")
            for _ in "abc"
        ),
        return_exceptions=True,
    )
    [ended] = [one for one in told if isinstance(one, Interaction)]
    assert await board.interaction(asked.id) == ended
    refused = [one for one in told if not isinstance(one, Interaction)]
    assert all(isinstance(one, AlreadyAnswered | InteractionClosed) for one in refused)


async def test_all_who_have_to_decide_can_still_do_so(board: Callboard):
    asked = await left_behind(board, requiredParticipants=["ann", "bob"])
    await board.people.complete(asked.id, "completed", response=1, by="ann")
    ended = await board.people.complete(asked.id, "completed", response=2, by="bob")
    assert ended.response == {"ann": 1, "bob": 2}


async def test_a_fork_of_the_session_asks_nothing_of_it(board: Callboard):
    asked = await left_behind(board)
    assert asked.session_id is not None
    events = await board.events(asked.session_id)
    at = named(events).index("input:detached") + 1
    for position in (at - 1, at, len(events)):
        forked = await board.fork(asked.session_id, position=position, run=False)
        assert await board.inbox(forked.session_id) == []
    assert (await board.interaction(asked.id)).status == "pending"


async def test_it_goes_when_its_session_is_deleted(board: Callboard):
    closed = await left_behind(board)
    await board.people.complete(closed.id, "completed")
    for asked in (closed, await left_behind(board)):
        assert asked.session_id is not None
        await board.delete(asked.session_id)
        with pytest.raises(InteractionNotFound):
            await board.interaction(asked.id)
        await board.rebuild()
        with pytest.raises(InteractionNotFound):
            await board.interaction(asked.id)


async def test_a_session_that_is_deleted_leaves_nothing_open(board: Callboard):
    session = await board.start("flow")
    await board.drive(session)
    await ask(board, session)
    await board.delete(session)
    assert await board.inbox() == []
    assert await board.log.rows(Query("human_interactions")) == []


deciding = Workflow(
    "deciding",
    state=State,
    phases=[
        Phase("a", human=Interactive("Look", within=60, block_orchestration=False), terminal=True)
    ],
)


@pytest.mark.parametrize("how", ["recovered", "watched", "completed"])
async def test_its_deadline_comes_with_it(board: Callboard, clock: FakeClock, how: str):
    session = (await board.run(deciding)).session_id
    [asked] = await board.inbox(session)
    await board.cancel(session)
    [detached] = [e for e in await board.events(session) if e.name == "input:detached"]
    assert detached.payload["deadline"] == clock.now_ms() + 60_000
    await clock.advance(61)
    if how == "recovered":
        await board.recover()
    elif how == "watched":
        watching = WatchingDriver(board.driver, board.log, clock)
        await watching.start()
        while (await board.interaction(asked.id)).status == "pending":
            await clock.advance(0)
        await watching.stop(0)
    else:
        with pytest.raises(InteractionClosed):
            await board.people.complete(asked.id, "completed", response="fine")
    assert (await board.interaction(asked.id)).status == "timeout"
    assert await board.log.rows(Query("wakeups")) == []
    assert await board.log.unsettled() == []
