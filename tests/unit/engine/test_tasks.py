"""Tasks: a workflow does not complete while an interactive session of its is open."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.engine.rig import Notes, Rig, note

from callboard import Approval, Callboard, Context, Interactive, Phase, State, Workflow, agent
from callboard.events.rows import KEYS, Query
from callboard.interactions.records import Interaction
from callboard.testing.fake_clock import FakeClock

flow = Workflow(
    "flow",
    state=State,
    phases=[
        Phase("a", human=Approval("On?"), next="b"),
        Phase("b", terminal=True),
    ],
)


@pytest.fixture(params=["memory", "sqlite"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callboard]:
    db = None if request.param == "memory" else tmp_path / "cb.db"
    async with Callboard.open(db, [flow], clock=FakeClock()) as board:
        yield board


async def interactive(board: Callboard, session: str | None, **config: Any) -> Interaction:
    return await board.people.ask(
        type="interactive_session",
        prompt="Please look at all of this, and tell us what you think of it",
        session_id=session,
        config=config,
    )


async def names(board: Callboard, session: str) -> list[str]:
    return [event.name for event in await board.events(session)]


async def tasks(board: Callboard, session: str) -> list[tuple[str, str]]:
    rows = await board.log.rows(Query("tasks", {"execution_id": session}))
    return [(row["id"], row["status"]) for row in rows]


async def finish(board: Callboard, session: str) -> str:
    [question] = [one for one in await board.inbox(session) if one.phase]
    await board.answer(question.id, "yes")
    return (await board.drive(session)).status


ENDS = ["completed", "cancelled", "timeout", "failed", "taken back"]


async def end(board: Callboard, asked: Interaction, how: str) -> None:
    if how == "taken back":
        await board.people.cancel(asked.id)
    else:
        await board.people.complete(asked.id, how)


@pytest.mark.parametrize("how", ENDS)
async def test_a_workflow_completes_when_the_session_is_over(board: Callboard, how: str):
    session = (await board.run(flow)).session_id
    asked = await interactive(board, session)
    events = await board.events(session)
    assert [event.name for event in events[-2:]] == ["input:requested", "task:started"]
    title = "Interactive session: Please look at all of this, and tell us what you t..."
    assert events[-1].payload == {
        "taskId": asked.id,
        "kind": "human_interactive",
        "title": title,
    }
    assert await tasks(board, session) == [(asked.id, "running")]
    assert await finish(board, session) == "waiting"
    assert (await board.view(session)).exit_phase == "b"
    assert await board.log.unsettled() == []

    await end(board, asked, how)
    assert (await names(board, session))[-1] == "task:completed"
    assert await tasks(board, session) == [(asked.id, "completed")]
    assert await board.log.unsettled() == [session]
    assert [info.status for info in await board.recover()] == ["completed"]
    assert (await names(board, session))[-1] == "workflow:completed"
    before = {table: await board.log.rows(Query(table)) for table in KEYS}
    await board.rebuild()
    assert {table: await board.log.rows(Query(table)) for table in KEYS} == before


async def test_one_that_does_not_block_has_no_task(board: Callboard):
    session = (await board.run(flow)).session_id
    asked = await interactive(board, session, blockOrchestration=False)
    assert "task:started" not in await names(board, session)
    assert await finish(board, session) == "completed"
    assert (await board.interaction(asked.id)).status == "pending"
    assert await tasks(board, session) == []


async def test_one_that_stands_alone_has_no_task(board: Callboard):
    asked = await interactive(board, None)
    await board.people.complete(asked.id, "completed")
    assert await board.log.rows(Query("tasks")) == []


@pytest.mark.parametrize("how", ["cancelled", "deleted"])
async def test_the_end_of_the_session_closes_its_tasks(board: Callboard, how: str):
    session = (await board.run(flow)).session_id
    asked = await interactive(board, session)
    if how == "deleted":
        await board.delete(session)
        assert await board.log.rows(Query("tasks")) == []
        return
    await board.cancel(session)
    assert (await names(board, session))[-4:] == [
        "input:cancelled",  # the phase's question
        "input:cancelled",
        "task:completed",
        "workflow:cancelled",
    ]
    assert await tasks(board, session) == [(asked.id, "completed")]
    assert (await board.view(session)).tasks == {}


async def test_a_failure_closes_them_too(board: Callboard):
    @agent
    async def broken(state: State) -> None:
        raise ValueError("no")

    failing = Workflow(
        "failing",
        state=State,
        phases=[Phase("a", human=Approval("On?"), next="b"), Phase("b", broken, terminal=True)],
    )
    session = (await board.run(failing)).session_id
    asked = await interactive(board, session)
    assert await finish(board, session) == "failed"
    assert (await board.interaction(asked.id)).status == "cancelled"
    assert await tasks(board, session) == [(asked.id, "completed")]


async def test_a_fork_does_not_wait_for_its_parent_s_tasks(board: Callboard):
    session = (await board.run(flow)).session_id
    asked = await interactive(board, session)
    forked = (await board.fork(session)).session_id
    assert await finish(board, forked) == "completed"
    assert (await board.interaction(asked.id)).status == "pending"
    await board.people.complete(asked.id, "completed")
    assert await finish(board, session) == "completed"


async def test_the_agent_of_the_last_phase_may_ask_and_go_on():
    """Fire and forget: the run is over, and the workflow waits for the person all the same."""
    rig = Rig()

    async def work(ctx: Context) -> str:
        await interactive(rig.outside, ctx.session_id)
        return "done"

    view = await (await rig.start(rig.flow(work)))
    assert (view.status, view.exit_phase, view.state["seen"]) == ("waiting", "p", ["done"])
    [asked] = await rig.outside.inbox("s")
    await rig.outside.people.complete(asked.id, "completed")
    view = await (await rig.drive(rig.process(rig.flow(work))))
    assert view.status == "completed"


async def test_halting_lets_nothing_begin_and_the_work_in_hand_end():
    rig = Rig()
    free = asyncio.Event()

    async def work(ctx: Context) -> str:
        if ctx.item == "asks":
            result = await ctx.interactive("Critical", halt_execution=True)
            return result.outcome
        if ctx.item == "works":
            await free.wait()
        return str(ctx.item)

    def workflow() -> Workflow:
        return rig.flow(work, for_each=lambda s: ["asks", "works", "third", "fourth"], parallel=2)

    driving = await rig.start(workflow())
    free.set()
    await rig.clock.advance(0)
    done = [event.payload["run"] for event in await rig.events("agent:completed")]
    assert done == ["p#1/1"]
    assert len(await rig.events("agent:started")) == 2
    await rig.clock.advance(31)
    assert (await driving).status == "waiting"
    # A driver that comes by leaves it as it is.
    view = await (await rig.drive(rig.process(workflow())))
    assert (view.status, len(await rig.events("agent:started"))) == ("waiting", 2)
    [asked] = await rig.outside.inbox("s")
    await rig.outside.people.complete(asked.id, "timeout")
    view = await (await rig.drive(rig.process(workflow())))
    assert view.status == "completed"
    assert view.state["seen"] == ["timeout", "works", "third", "fourth"]


async def test_a_halt_from_outside_holds_the_next_phase_back(board: Callboard):
    session = (await board.run(flow)).session_id
    asked = await interactive(board, session, haltExecution=True, blockOrchestration=False)
    assert await finish(board, session) == "waiting"
    view = await board.view(session)
    # The answer is recorded, and not acted on.
    assert (view.phase, view.exit_phase) == ("a", None)
    assert "input:received" in await names(board, session)
    await board.people.complete(asked.id, "failed", error="broken off")
    assert await board.log.unsettled() == [session]
    assert [info.status for info in await board.recover()] == ["completed"]


async def test_a_halting_question_that_runs_out_lets_go():
    clock = FakeClock()
    workflow = Workflow(
        "halting",
        state=Notes,
        phases=[
            Phase("a", human=Interactive("?", halt_execution=True, within=60), next="b"),
            Phase("b", agent=agent(lambda state: "b"), update=note, terminal=True),
        ],
    )
    async with Callboard.open(None, [workflow], clock=clock) as board:
        session = (await board.run(workflow)).session_id
        clock.skip(60)
        assert [info.status for info in await board.recover()] == ["completed"]
        assert (await board.state(session)).seen == ["b"]
