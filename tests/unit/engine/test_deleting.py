"""Deleting a session: ended first, gone at once, its forks left whole."""

import asyncio
import random

import pytest
from tests.unit.engine.conftest import Gate

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.errors import (
    ConflictError,
    InteractionNotFound,
    SessionExists,
    SessionNotFound,
)
from callboard.events.rows import KEYS, Query
from callboard.log.protocol import Writing
from callboard.testing.fake_clock import FakeClock

LONG = random.Random(1).randbytes(30_000).hex()
"""Long enough to be worth a checkpoint, where the state holds only the beginning of it."""


class Notes(State):
    seen: list[str] = []


@pytest.fixture
def flow(gate: Gate) -> Workflow:
    @agent
    async def work(state: Notes, ctx: Context) -> str:
        gate.entered.set()
        try:
            await gate.open.wait()
        except asyncio.CancelledError:
            gate.stopped = True
            raise
        return LONG

    def note(state: Notes, output: str) -> None:
        state.seen.append(output[:9])

    return Workflow(
        "flow",
        state=Notes,
        phases=[
            Phase("a", agent=work, update=note, next="a2"),
            Phase("a2", agent=work, update=note, next="b"),
            Phase("b", human=Approval("Ok?"), next="c"),
            Phase("c", terminal=True),
        ],
    )


async def test_a_session_that_waits_is_gone_at_once(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow, session_id="mine")
    assert result.status == "waiting"
    [question] = await here.inbox()
    await elsewhere.delete("mine", by="ann")
    for board in (here, elsewhere):
        assert await board.sessions() == []
        assert await board.inbox() == []
        for operation in (board.session, board.events, board.state, board.delete, board.cancel):
            with pytest.raises(SessionNotFound, match="callboard sessions"):
                await operation("mine")
        with pytest.raises(InteractionNotFound):
            await board.answer(question.id, "yes")
    with pytest.raises(SessionExists, match="deleted"):
        await here.start("flow", session_id="mine")
    with pytest.raises(SessionExists):
        await here.run(flow, session_id="mine")


async def test_whoever_drives_it_stops_first(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    await elsewhere.delete(execution.session_id)
    assert gate.stopped
    assert (await execution).status == "cancelled"
    assert await here.sessions() == []


async def test_the_driver_here_stops_as_well(here: Callboard, flow: Workflow, gate: Gate) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    await here.delete(execution.session_id)
    assert gate.stopped
    assert (await execution).status == "cancelled"
    assert await here.recover() == []


async def test_who_does_not_stop_is_told_of(flow: Workflow) -> None:
    clock = FakeClock(autojump=True)
    async with Callboard.open(None, [flow], clock=clock) as board:
        await board.start("flow", session_id="mine")
        await board.log.append("mine", [], Writing(claim=True))
        with pytest.raises(ConflictError, match="has not stopped within 10 s"):
            await board.delete("mine")
        assert (await board.session("mine")).status == "cancelled"
        await board.log.append("mine", [], Writing(settle=True))
        await board.delete("mine")
        with pytest.raises(SessionNotFound):
            await board.session("mine")


async def test_one_who_deletes_at_the_same_time_is_told_that_it_is_gone(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow)
    both = await asyncio.gather(
        here.delete(result.session_id), elsewhere.delete(result.session_id), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in both) == ["NoneType", "SessionNotFound"]


async def test_nothing_of_it_is_left_but_the_newest_event(
    here: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow, human_input={"approval": lambda prompt: True})
    assert result.status == "completed"
    await here.start("flow", session_id="other")
    await here.delete(result.session_id)
    assert [event.session_id for _, event in await here.log.read_all(0)] == ["other"]
    assert await here.log.trim() == 0
    for table in KEYS:
        for row in await here.log.rows(Query(table)):
            assert result.session_id not in row.values()


async def test_a_fork_goes_on_without_its_parent(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow, session_id="parent")
    before = await here.events("parent")
    assert "state:checkpoint" in [event.name for event in before]
    await here.fork("parent", run=False, session="child")
    await here.fork("child", phase="b", run=False, session="grandchild")
    await here.delete("parent")
    await here.delete("child")
    assert (await elsewhere.session("grandchild")).parent == "child"
    assert (await elsewhere.state("grandchild"))["seen"] == [LONG[:9]] * 2
    assert (await here.drive("grandchild")).status == "waiting"
    [question] = await here.inbox("grandchild")
    await here.answer(question.id, "yes")
    assert (await here.drive("grandchild")).status == "completed"
    ids = [event.id for event in await here.events("grandchild")]
    assert ids[: len(before)][:3] == [event.id for event in before[:3]]
    assert (await here.state("grandchild")).seen == result.state.seen


async def test_a_fork_begins_to_read_at_the_checkpoint_of_a_deleted_parent(
    here: Callboard, flow: Workflow, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.open.set()
    await here.run(flow, session_id="parent")
    await here.fork("parent", run=False, session="child")
    await here.fork("child", run=False, session="grandchild")
    await here.delete("child")
    await here.delete("parent")
    [row] = await here.log.rows(Query("checkpoints", {"session": "parent"}))
    begun: list[int] = []
    read = here.log.read

    async def noting(stream: str, after: int = 0, *more: object, **named: object) -> object:
        begun.append(after)
        return await read(stream, after, *more, **named)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(here.log, "read", noting)
    await here.view("grandchild")
    assert begun == [row["position"] - 1]
