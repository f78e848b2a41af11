"""Pause, resume, cancel, answer and fork: by the database alone, whoever drives."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.unit.engine.conftest import Gate

from callboard import Approval, Callboard, Choice, Context, Phase, State, Workflow, agent
from callboard.errors import (
    AlreadyAnswered,
    AnswerInvalid,
    EditInvalid,
    InteractionClosed,
    InteractionNotFound,
    NotResumable,
    PhaseError,
    SessionExists,
    SessionNotFound,
    SessionOwned,
    StoreFull,
    ValidationError,
    WorkflowNotFound,
)


class Notes(State):
    seen: list[str] = []


@pytest.fixture
def flow(gate: Gate) -> Workflow:
    @agent
    async def work(state: Notes, ctx: Context) -> str:
        gate.calls.append(f"{ctx.phase}{ctx.visit}.{ctx.attempt}")
        gate.entered.set()
        await gate.open.wait()
        return ctx.phase

    def note(state: Notes, output: str) -> None:
        state.seen.append(output)

    return Workflow(
        "flow",
        state=Notes,
        phases=[
            Phase("a", agent=work, update=note, next="b"),
            Phase("b", agent=work, update=note, human=Approval("Ok?"), next="c"),
            Phase("c", agent=work, update=note, terminal=True),
        ],
    )


async def test_a_pause_lets_the_agent_finish(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    assert await elsewhere.pause(execution.session_id, by="ann", reason="lunch") is True
    assert (await elsewhere.session(execution.session_id)).status == "running"
    assert await elsewhere.pause(execution.session_id) is False
    gate.open.set()
    result = await execution
    assert result.status == "paused"
    assert [e.name for e in result.events[-3:]] == [
        "workflow:pausing",
        "agent:completed",
        "workflow:paused",
    ]
    assert result.events[-1].payload == {"by": "ann", "reason": "lunch"}
    assert await here.drive(execution.session_id)
    assert (await here.session(execution.session_id)).status == "paused"
    assert await elsewhere.resume(execution.session_id) is True
    assert await elsewhere.resume(execution.session_id) is False
    assert (await here.drive(execution.session_id)).status == "waiting"
    assert gate.calls == ["a1.1", "b1.1"]


async def test_an_interrupting_pause_stops_the_agent_which_runs_again(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    await elsewhere.pause(execution.session_id, interrupt=True)
    result = await execution
    assert result.status == "paused"
    assert "agent:interrupted" in [e.name for e in result.events]
    gate.open.set()
    await execution.resume()
    assert (await execution).status == "waiting"
    assert gate.calls == ["a1.1", "a1.2", "b1.1"]


async def test_a_waiting_session_is_paused_at_once_and_keeps_its_question(
    here: Callboard,
    elsewhere: Callboard,
    flow: Workflow,
    gate: Gate,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    gate.open.set()
    result = await here.run(flow)
    [question] = await elsewhere.inbox()
    assert await elsewhere.pause(result.session_id) is True
    assert (await elsewhere.session(result.session_id)).status == "paused"
    await elsewhere.answer(question.id, "yes", by="bob")
    assert (await here.drive(result.session_id)).status == "paused"
    await elsewhere.resume(result.session_id)
    assert (await here.drive(result.session_id)).status == "completed"
    assert "dropped" not in caplog.text


async def test_cancel_stops_the_agent_and_drops_its_output(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    assert await elsewhere.cancel(execution.session_id, reason="enough") is True
    result = await execution
    assert result.status == "cancelled"
    assert result.events[-1].name == "workflow:cancelled"
    assert await elsewhere.cancel(execution.session_id) is False
    assert await elsewhere.pause(execution.session_id) is False
    with pytest.raises(NotResumable, match="callboard fork"):
        await elsewhere.resume(execution.session_id)


async def test_abort_ends_cancelled(here: Callboard, flow: Workflow, gate: Gate) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    execution.abort("changed my mind")
    result = await execution
    assert result.status == "cancelled"
    assert result.events[-1].payload == {"reason": "changed my mind"}


async def test_cancelling_a_waiting_session_closes_its_question(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow)
    [question] = await elsewhere.inbox("*")
    await elsewhere.cancel(result.session_id)
    assert await elsewhere.inbox() == []
    assert (await elsewhere.interaction(question.id)).status == "cancelled"
    with pytest.raises(InteractionClosed):
        await elsewhere.answer(question.id, "yes")


async def test_answers_are_checked_and_the_first_one_counts(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    await here.run(flow)
    [question] = await elsewhere.inbox()
    for value, approved in [("maybe", None), ("yes", False), (None, None), (5, None)]:
        with pytest.raises(AnswerInvalid):
            await elsewhere.answer(question.id, value, approved=approved)
    answered = await elsewhere.answer(question.id, "Approved", by="ann")
    assert answered.response == {"value": "yes", "approved": True}
    assert answered.answered_by == "ann"
    with pytest.raises(AlreadyAnswered, match="already been answered: yes"):
        await here.answer(question.id, "no")
    with pytest.raises(InteractionNotFound, match="callboard inbox"):
        await here.answer("nothing", "no")


async def test_two_answers_at_once_one_wins(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow)
    [question] = await elsewhere.inbox()
    both = await asyncio.gather(
        here.answer(question.id, "yes"), elsewhere.answer(question.id, "no"), return_exceptions=True
    )
    assert sum(isinstance(one, AlreadyAnswered) for one in both) == 1
    received = [e for e in await here.events(result.session_id) if e.name == "input:received"]
    assert len(received) == 1


async def test_one_drives_and_the_other_is_told(
    tmp_path: Path, here: Callboard, flow: Workflow, gate: Gate
) -> None:
    execution = here.run(flow)
    await gate.entered.wait()
    async with Callboard.open(tmp_path / "cb.db", workflows=[flow]) as other:
        with pytest.raises(SessionOwned):
            await other.drive(execution.session_id)
        with pytest.raises(SessionOwned):
            await here.drive(execution.session_id)
        assert await other.recover() == []
        assert (await other.session(execution.session_id)).running is True
    gate.open.set()
    assert (await execution).status == "waiting"
    assert gate.calls == ["a1.1", "b1.1"]


async def test_an_open_session_id_cannot_be_taken(
    here: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    await here.run(flow, session_id="mine")
    with pytest.raises(SessionExists):
        await here.run(flow, session_id="mine")


async def test_unknown_ids_are_told(here: Callboard) -> None:
    operations: list[Any] = [
        here.session,
        here.events,
        here.state,
        here.pause,
        here.resume,
        here.cancel,
        here.drive,
        here.fork,
    ]
    for operation in operations:
        with pytest.raises(SessionNotFound, match="callboard sessions"):
            await operation("nothing")


async def test_a_workflow_that_is_not_registered_is_named(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow)
    [question] = await elsewhere.inbox()
    await elsewhere.answer(question.id, "yes")
    with pytest.raises(WorkflowNotFound, match="'flow' is not registered"):
        await elsewhere.drive(result.session_id)


async def done(board: Callboard, flow: Workflow, gate: Gate) -> str:
    gate.open.set()
    result = await board.run(flow, human_input={"approval": lambda prompt: True})
    assert result.status == "completed"
    return result.session_id


async def test_fork_at_a_phase_runs_from_there(here: Callboard, flow: Workflow, gate: Gate) -> None:
    parent = await done(here, flow, gate)
    gate.calls.clear()
    forked = await here.fork(parent, phase="b")
    before = await here.events(parent)
    after = await here.events(forked.session_id)
    assert after[: forked.events_copied] != []
    assert [(e.id, e.position) for e in after[: forked.events_copied]] == [
        (e.id, e.position) for e in before[: forked.events_copied]
    ]
    assert {e.session_id for e in after} == {forked.session_id}
    assert after[forked.events_copied].name == "session:forked"
    assert after[forked.events_copied].position == forked.position
    assert gate.calls == ["b1.1"]
    [question] = await here.inbox(forked.session_id)
    assert question.id not in {e.payload.get("id") for e in before}
    assert (await here.session(forked.session_id)).parent == parent


async def test_fork_edits_the_state(here: Callboard, flow: Workflow, gate: Gate) -> None:
    parent = await done(here, flow, gate)
    edits = [{"op": "replace", "path": "/seen/0", "value": "edited"}]
    forked = await here.fork(parent, phase="c", edits=edits, run=False)
    assert (await here.state(forked.session_id)).seen == ["edited", "b"]
    assert (await here.state(parent)).seen == ["a", "b", "c"]

    def edit(state: Notes) -> None:
        state.seen.append("more")

    other = await here.fork(parent, phase="c", edits=edit, run=False)
    assert (await here.state(other.session_id)).seen == ["a", "b", "more"]
    assert (await here.drive(other.session_id)).status == "completed"
    assert (await here.state(other.session_id)).seen == ["a", "b", "more", "c"]


async def test_fork_where_a_condition_first_held(
    here: Callboard, flow: Workflow, gate: Gate
) -> None:
    parent = await done(here, flow, gate)
    forked = await here.fork(parent, where=lambda s: len(s.seen) == 2, run=False)
    assert (await here.state(forked.session_id)).seen == ["a", "b"]


async def test_every_position_can_be_forked_and_driven_to_the_end(
    here: Callboard, flow: Workflow, gate: Gate
) -> None:
    parent = await done(here, flow, gate)
    last = (await here.session(parent)).position
    for position in range(1, last + 1):
        forked = await here.fork(
            parent, position=position, human_input={"approval": lambda prompt: True}
        )
        info = await here.session(forked.session_id)
        assert info.status == "completed", position
        assert (await here.state(forked.session_id)).seen == ["a", "b", "c"], position


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ({"phase": "nowhere"}, ValidationError),
        ({"phase": "b", "occurrence": 2}, ValidationError),
        ({"phase": "b", "occurrence": 0}, ValidationError),
        ({"occurrence": 1}, ValidationError),
        ({"position": 0}, ValidationError),
        ({"position": 999}, ValidationError),
        ({"phase": "b", "position": 3}, ValidationError),
        ({"edits": [{"op": "remove", "path": "/nothing"}]}, EditInvalid),
    ],
)
async def test_a_wrong_fork_is_refused(
    here: Callboard, flow: Workflow, gate: Gate, where: dict[str, Any], error: type[Exception]
) -> None:
    parent = await done(here, flow, gate)
    with pytest.raises(error):
        await here.fork(parent, **where)
    assert len(await here.sessions()) == 1


async def test_state_and_difference_at_positions(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    session = await done(here, flow, gate)
    last = (await here.session(session)).position
    assert (await here.state(session, at=0)).seen == []
    assert (await here.state(session, at=last)).seen == ["a", "b", "c"]
    answer = {"value": "yes", "approved": True}
    assert await elsewhere.diff(session, 0, last) == [
        {"op": "replace", "path": "/humanResponse", "value": answer},
        {"op": "replace", "path": "/approved", "value": True},
        {"op": "add", "path": "/seen/0", "value": "a"},
        {"op": "add", "path": "/seen/1", "value": "b"},
        {"op": "add", "path": "/seen/2", "value": "c"},
    ]
    with pytest.raises(ValidationError, match="positions 0 to"):
        await here.state(session, at=last + 1)


async def test_a_session_whose_phase_is_gone_is_held_not_failed(
    tmp_path: Path, here: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    result = await here.run(flow)
    [question] = await here.inbox()
    await here.answer(question.id, "yes")
    changed = Workflow("flow", state=Notes, phases=[Phase("z", terminal=True)])
    async with Callboard.open(tmp_path / "cb.db", workflows=[changed]) as other:
        info = await other.drive(result.session_id)
        assert info.held is not None
        assert "no longer has the phase 'b'" in info.held
        assert info.status == "running"
        again = await other.drive(result.session_id)
        assert again.position == info.position
    assert (await here.drive(result.session_id)).status == "completed"


async def test_several_questions_are_answered_in_any_order(here: Callboard) -> None:
    @agent
    async def ask(state: Notes, ctx: Context) -> str:
        both = await asyncio.gather(
            ctx.choose("First?", ["a", "b"]), ctx.choose("Second?", ["c", "d"])
        )
        return " ".join(both)

    flow = Workflow(
        "two",
        state=Notes,
        phases=[
            Phase("q", agent=ask, update=lambda s, o: s.seen.append(o), terminal=True),
        ],
    )
    result = await here.run(flow)
    assert result.status == "waiting"
    # Two that are asked in one millisecond have no order.
    asked = {question.prompt: question for question in await here.inbox(result.session_id)}
    first, second = asked["First?"], asked["Second?"]
    await here.answer(second.id, "d")
    assert (await here.drive(result.session_id)).status == "waiting"
    assert [q.id for q in await here.inbox(result.session_id)] == [first.id]
    await here.answer(first.id, "a")
    assert (await here.drive(result.session_id)).status == "completed"
    assert (await here.state(result.session_id)).seen == ["a d"]


async def test_other_takes_any_text(here: Callboard) -> None:
    flow = Workflow(
        "free",
        state=Notes,
        phases=[
            Phase("q", human=Choice("What?", ["x"], other=True), terminal=True),
        ],
    )
    await here.run(flow)
    [question] = await here.inbox()
    with pytest.raises(AnswerInvalid, match="or enter any text"):
        await here.answer(question.id, "  ")
    answered = await here.answer(question.id, "something else")
    assert answered.response == {"value": "something else"}


async def test_a_drive_that_is_stopped_leaves_no_doubt_behind(
    here: Callboard, flow: Workflow, gate: Gate
) -> None:
    careful = Workflow(
        "careful",
        state=Notes,
        phases=[Phase("a", agent=flow.steps["a"].agent, terminal=True)],
        on_uncertain="ask",
    )
    execution = here.run(careful)
    await gate.entered.wait()
    stopped = asyncio.ensure_future(execution)
    await asyncio.sleep(0)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    last = (await here.events(execution.session_id))[-1]
    assert (last.name, last.payload["reason"]) == ("agent:interrupted", "stopped")
    gate.open.set()
    assert (await here.drive(execution.session_id)).status == "completed"


async def test_a_start_that_raises_begins_no_session(here: Callboard) -> None:
    def begin(state: Notes, given: str) -> None:
        raise ValueError("no such city")

    flow = Workflow("trip", state=Notes, start=begin, phases=[Phase("a", terminal=True)])
    with pytest.raises(PhaseError, match="start of workflow 'trip' raised ValueError"):
        await here.run(flow, "Atlantis")
    assert await here.sessions() == []


async def test_a_state_that_has_gained_fields_goes_on(tmp_path: Path) -> None:
    class Older(State):
        city: str = ""

    class Newer(State):
        city: str = ""
        notes: list[str] = []
        costs: dict[str, int] = {}

    @agent
    async def work(state: Any) -> str:
        return "x"

    def note(state: Newer, output: str) -> None:
        state.notes.append(output)
        state.costs["bed"] = 5

    ask = Phase("ask", human=Approval("Ok?"), next="work")
    before = Workflow("w", state=Older, phases=[ask, Phase("work", terminal=True)])
    after = Workflow(
        "w", state=Newer, phases=[ask, Phase("work", agent=work, update=note, terminal=True)]
    )
    async with Callboard.open(tmp_path / "cb.db", [before]) as board:
        result = await board.run(before)
        [question] = await board.inbox()
        await board.answer(question.id, "yes")
    async with Callboard.open(tmp_path / "cb.db", [after]) as board:
        assert (await board.drive(result.session_id)).status == "completed"
        state = await board.state(result.session_id)
        assert (state.notes, state.costs) == (["x"], {"bed": 5})
        reasons = [
            e.payload["reason"]
            for e in await board.events(result.session_id)
            if e.name == "state:intent"
        ]
        assert reasons.count("upgrade") == 1
    state.notes.append("mine")  # What was given out is the caller's own.


async def test_a_session_that_cannot_be_driven_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = Workflow("w", state=Notes, phases=[Phase("ask", human=Approval("Ok?"), terminal=True)])
    async with Callboard.open(tmp_path / "cb.db", [flow]) as board:
        unlucky, *others = [(await board.run(flow)).session_id for _ in range(4)]
        for question in await board.inbox():
            await board.answer(question.id, "yes")
        drive = board.driver.drive

        async def fail_once(session_id: str, manner: Any = None) -> Any:
            if session_id == unlucky:
                raise StoreFull
            return await drive(session_id, manner)

        monkeypatch.setattr(board.driver, "drive", fail_once)
        with pytest.raises(StoreFull):
            await board.recover()
        assert {(await board.session(one)).status for one in others} == {"completed"}
        monkeypatch.undo()
        [recovered] = await board.recover()
        assert (recovered.session_id, recovered.status) == (unlucky, "completed")


async def test_of_several_who_do_the_same_at_once_one_did_it(
    here: Callboard, elsewhere: Callboard, flow: Workflow, gate: Gate
) -> None:
    gate.open.set()
    session = (await here.run(flow)).session_id
    for operation, name in [
        ("pause", "workflow:pausing"),
        ("resume", "workflow:resumed"),
        ("cancel", "workflow:cancelled"),
    ]:
        told = await asyncio.gather(
            *(getattr(board, operation)(session) for board in (here, elsewhere, here)),
            return_exceptions=True,
        )
        assert [one for one in told if one is True] == [True], operation
        assert [e.name for e in await here.events(session)].count(name) == 1
