"""Interactive sessions that a workflow asks for: on a phase, and inside an agent."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.unit.engine.rig import Notes, Rig, note

from callboard import Approval, Callboard, Context, Interactive, Phase, State, Workflow, agent
from callboard.engine.runner import LINGER
from callboard.errors import (
    AlreadyAnswered,
    DefinitionError,
    InteractionClosed,
    ValidationError,
)
from callboard.events.names import REQUESTED
from callboard.interactions.records import Interaction
from callboard.testing.fake_clock import FakeClock

Outcomes = list[tuple[str, Any, str, Any, bool | None]]

ENDS: Outcomes = [
    ("completed", "approved", "yes", "approved", True),
    ("completed", "rejected", "no", "rejected", False),
    ("cancelled", None, "no", None, None),
    ("timeout", None, "no", None, None),
    ("failed", None, "no", None, None),
]


class Review(State):
    files: list[str] = ["a.py"]
    kept: Any = None


def keep(state: Review, response: Any) -> None:
    state.kept = [response.value, response.approved, response.outcome, response.timed_out]


def reviewing(**options: Any) -> Workflow:
    options.setdefault("outcome_schema", {"type": "approval"})
    return Workflow(
        "reviewing",
        state=Review,
        phases=[
            Phase(
                "look",
                human=Interactive(
                    lambda s: f"Look at {s.files[0]}",
                    context=lambda s: {"files": s.files},
                    **options,
                ),
                on_answer=keep,
                next=lambda s: "yes" if s.approved else "no",
                to=["yes", "no"],
            ),
            Phase("yes", terminal=True),
            Phase("no", terminal=True),
        ],
    )


@pytest.fixture
def workflows() -> list[Workflow]:
    return [reviewing()]


async def begin(board: Callboard, workflow: Workflow | None = None) -> tuple[str, Interaction]:
    result = await board.run(workflow or reviewing())
    assert result.status == "waiting"
    [asked] = await board.inbox(result.session_id)
    return result.session_id, asked


async def names(board: Callboard, session: str) -> list[str]:
    return [event.name for event in await board.events(session)]


async def test_a_phase_asks_for_a_session_with_its_config(board: Callboard):
    workflow = reviewing(
        system_prompt="Be brief",
        model="opus",
        cwd="/srv/work",
        mcp_config="/srv/mcp.json",
        timeout=1800,
        capture_transcript=True,
    )
    session, asked = await begin(board, workflow)
    assert (asked.type, asked.prompt) == ("interactive_session", "Look at a.py")
    assert (asked.phase, asked.session_id, asked.deadline) == ("look", session, None)
    assert asked.config == {
        "blockOrchestration": True,
        "systemPrompt": "Be brief",
        "context": {"files": ["a.py"]},
        "model": "opus",
        "cwd": "/srv/work",
        "mcpConfig": "/srv/mcp.json",
        "timeout": 1_800_000,
        "outcomeSchema": {"type": "approval"},
        "captureTranscript": True,
    }


@pytest.mark.parametrize(("outcome", "response", "exit_phase", "value", "approved"), ENDS)
async def test_how_the_session_ends_reaches_the_phase(
    board: Callboard,
    outcome: str,
    response: Any,
    exit_phase: str,
    value: Any,
    approved: bool | None,
):
    session, asked = await begin(board)
    told: dict[str, Any] = {"error": "it crashed"} if outcome == "failed" else {}
    done = await board.people.complete(asked.id, outcome, response=response, by="ann", **told)
    assert (done.status, done.response, done.answered_by) == (outcome, response, "ann")
    assert await board.log.unsettled() == [session]
    assert [info.status for info in await board.recover()] == ["completed"]
    view = await board.view(session)
    assert view.exit_phase == exit_phase
    assert view.state["kept"] == [value, approved, outcome, outcome == "timeout"]
    assert (await names(board, session)).count("input:requested") == 1
    error = InteractionClosed if outcome != "completed" else AlreadyAnswered
    with pytest.raises(error):
        await board.people.complete(asked.id, "completed", response="approved")


async def test_one_that_is_taken_back_is_an_outcome_and_not_asked_again(board: Callboard):
    session, asked = await begin(board)
    await board.people.cancel(asked.id, by="ann")
    assert (await board.drive(session)).status == "completed"
    state = await board.state(session)
    assert state.kept == [None, None, "cancelled", False]
    assert (await board.people.get(asked.id)).answered_by == "ann"


async def test_other_questions_that_a_workflow_waits_for_cannot_be_taken_back(board: Callboard):
    simple = Workflow("s", state=State, phases=[Phase("a", human=Approval("?"), terminal=True)])
    _, asked = await begin(board, simple)
    with pytest.raises(Exception, match="needs an answer"):
        await board.people.cancel(asked.id)


async def test_a_response_that_does_not_fit_leaves_it_open(board: Callboard):
    session, asked = await begin(board)
    for response in ("yes", None, {"approved": True}, ["approved"]):
        with pytest.raises(ValidationError, match="does not fit"):
            await board.people.complete(asked.id, "completed", response=response)
    assert (await board.drive(session)).status == "waiting"
    assert (await names(board, session))[-2:] == ["input:requested", "task:started"]


async def test_within_ends_the_wait_and_never_approves(board: Callboard, clock: FakeClock):
    workflow = reviewing(within=60)
    session, asked = await begin(board, workflow)
    assert asked.deadline is not None
    clock.skip(59.999)
    assert (await board.drive(session)).status == "waiting"
    clock.skip(0.001)
    assert [info.status for info in await board.recover()] == ["completed"]
    assert (await board.state(session)).kept == [None, None, "timeout", True]
    assert (await board.interaction(asked.id)).status == "timeout"
    with pytest.raises(InteractionClosed, match="timed out"):
        await board.people.complete(asked.id, "completed", response="approved")


async def test_a_decision_that_comes_too_late_is_refused_though_nobody_drove(
    board: Callboard, clock: FakeClock
):
    session, asked = await begin(board, reviewing(within=60))
    clock.skip(60)
    with pytest.raises(InteractionClosed, match="timed out"):
        await board.people.complete(asked.id, "completed", response="approved")
    assert (await names(board, session))[-2:] == ["input:expired", "task:completed"]
    await board.drive(session)
    assert (await board.state(session)).kept == [None, None, "timeout", True]


async def test_the_clock_stands_still_while_paused(board: Callboard, clock: FakeClock):
    session, asked = await begin(board, reviewing(within=60))
    await board.pause(session)
    clock.skip(3600)
    done = await board.people.complete(asked.id, "completed", response="approved")
    assert done.status == "completed"
    assert (await names(board, session))[-2:] == ["input:received", "task:completed"]
    await board.resume(session)
    await board.drive(session)
    assert (await board.state(session)).kept[:3] == ["approved", True, "completed"]


async def test_a_plain_state_has_the_outcome_too():
    workflow = Workflow(
        "plain",
        state=dict,
        phases=[Phase("a", human=Interactive("Look"), terminal=True)],
    )
    async with Callboard.open() as board:
        session, asked = await begin(board, workflow)
        await board.people.complete(asked.id, "completed", response={"any": ["thing"]})
        await board.drive(session)
        state = await board.state(session)
        assert state["human_response"]["outcome"] == "completed"
        assert state["human_response"]["value"] == {"any": ["thing"]}
        assert state["approved"] is None


async def test_a_function_may_give_one_and_a_wrong_one_fails_the_phase():
    workflow = Workflow(
        "function",
        state=Review,
        phases=[
            Phase("a", human=lambda s: Interactive("Look", context=lambda s: s), terminal=True)
        ],
    )
    async with Callboard.open() as board:
        result = await board.run(workflow)
        assert result.error is not None
        assert (result.status, result.error["code"]) == ("failed", "VALIDATION_ERROR")
        assert "config cannot be recorded: /context" in result.error["message"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompt": " "}, "prompt"),
        ({"within": 0}, "within"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": "soon"}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"outcome_schema": {"type": "selection"}}, "outcomeSchema.options"),
        ({"outcome_schema": {"type": "thing"}}, "JSON Schema"),
        ({"outcome_schema": {"type": "structured", "json_schema": {"type": 5}}}, "JSON Schema"),
        ({"required_participants": ["ann", "ann"]}, "requiredParticipants"),
        ({"context": {"x": {1, 2}}}, "config cannot be recorded"),
        ({"context": 5}, "config.context"),
        ({"system_prompt": ""}, "systemPrompt"),
        ({"halt_execution": "yes"}, "haltExecution"),
        ({"result_type": object()}, "result_type"),
    ],
)
def test_a_wrong_definition_is_told_where_it_is_made(options: dict[str, Any], told: str):
    given: dict[str, Any] = {"prompt": "Look", **options}
    with pytest.raises(DefinitionError, match=told):
        Interactive(**given)


class Decision(BaseModel):
    approved: bool
    notes: str = ""


async def test_an_agent_asks_and_is_given_the_result(tmp_path: Path):
    seen: list[Any] = []

    @agent
    async def worker(state: Notes, ctx: Context) -> str:
        with ctx.worktree(tmp_path):
            result = await ctx.interactive(
                "Review it", context={"diff": "+1"}, result_type=Decision, capture_transcript=True
            )
        seen.append(result)
        return result.outcome

    workflow = Workflow(
        "asks", state=Notes, phases=[Phase(agent=worker, update=note, terminal=True)]
    )
    async with Callboard.open(None, [workflow]) as board:
        session, asked = await begin(board, workflow)
        assert asked.config["cwd"] == str(tmp_path)
        assert asked.config["outcomeSchema"]["jsonSchema"]["required"] == ["approved"]
        assert (asked.run, asked.phase) == ("worker#1", "worker")
        with pytest.raises(ValidationError, match="approved"):
            await board.people.complete(asked.id, "completed", response={"notes": "?"})
        await board.people.complete(
            asked.id,
            "completed",
            response={"approved": True, "notes": "fine"},
            transcript="…",
            duration_ms=1500,
        )
        await board.drive(session)
        [result] = seen
        assert result.response == Decision(approved=True, notes="fine")
        assert (result.outcome, result.transcript, result.duration) == ("completed", "…", 1.5)
        assert (await board.state(session)).seen == ["completed"]


async def test_without_a_worktree_the_agent_s_own_folder_is_meant():
    async def work(ctx: Context) -> str:
        return (await ctx.interactive("Look")).outcome

    rig = Rig()
    driving = await rig.start(rig.flow(work))
    asked = (await rig.inbox())["Look"]
    assert asked.config == {"cwd": str(Path.cwd()), "blockOrchestration": True}
    await rig.outside.people.cancel(asked.id)
    view = await driving
    assert view.state["seen"] == ["cancelled"]


@pytest.mark.parametrize("outcome", ["completed", "cancelled", "timeout", "failed"])
async def test_an_agent_waits_for_a_while_and_is_then_unwound(outcome: str):
    async def work(ctx: Context) -> list[Any]:
        first = await ctx.interactive("Look")
        return [first.outcome, first.response, first.approved, first.error]

    rig = Rig()
    driving = await rig.start(rig.flow(work))
    await rig.clock.advance(LINGER + 1)
    assert (await driving).status == "waiting"
    asked = (await rig.inbox())["Look"]
    response = "approved" if outcome == "completed" else None
    error = "no agent" if outcome == "failed" else None
    await rig.outside.people.complete(asked.id, outcome, response=response, error=error)
    view = await (await rig.drive(rig.process(rig.flow(work))))
    approved = True if outcome == "completed" else None
    assert view.state["seen"] == [[outcome, response, approved, error]]
    assert rig.calls == [1, 2]
    assert len(await rig.events("input:requested")) == 1


async def test_an_agent_in_memory_goes_on_at_once():
    async def work(ctx: Context) -> str:
        result = await ctx.interactive("Look")
        return f"{result.outcome} {result.error}"

    rig = Rig()
    driving = await rig.start(rig.flow(work))
    asked = (await rig.inbox())["Look"]
    await rig.outside.people.complete(asked.id, "failed", error="the terminal closed")
    view = await driving
    assert view.state["seen"] == ["failed the terminal closed"]
    assert rig.calls == [1]


async def test_sessions_are_told_apart_by_key_and_by_which_time():
    async def work(ctx: Context) -> list[str]:
        ends = await asyncio.gather(
            ctx.interactive("Look"),
            ctx.interactive("Look"),
            ctx.interactive("Look", key="a"),
            ctx.interactive("Else"),
        )
        return [str(end.response) for end in ends]

    rig = Rig()
    await rig.start(rig.flow(work))
    asked = [one["id"] for one in REQUESTED.among(await rig.events())]
    assert len(asked) == 4
    for number in (2, 0, 3, 1):
        await rig.outside.people.complete(asked[number], "completed", response=str(number))
    await rig.clock.advance(0)
    view = await rig.outside.view("s")
    assert (view.status, view.state["seen"]) == ("completed", [["0", "1", "2", "3"]])


async def test_within_and_the_phase_s_own_timeout():
    """Waiting for people is no work; the deadline of the question counts all the same."""

    async def work(ctx: Context) -> list[Any]:
        late = await ctx.interactive("Look", within=3600)
        return [late.outcome, late.approved]

    rig = Rig()
    driving = await rig.start(rig.flow(work, timeout=5))
    await rig.clock.advance(10)
    assert not driving.done()
    await rig.clock.advance(LINGER)
    assert (await driving).status == "waiting"
    rig.clock.skip(3600)
    view = await (await rig.drive(rig.process(rig.flow(work, timeout=5))))
    assert view.state["seen"] == [["timeout", None]]


async def test_a_response_that_does_not_fit_result_type_fails_the_agent():
    async def work(ctx: Context) -> str:
        schema = {"type": "structured"}
        await ctx.interactive("Look", outcome_schema=schema, result_type=Decision)
        return "never"

    rig = Rig()
    driving = await rig.start(rig.flow(work))
    asked = (await rig.inbox())["Look"]
    await rig.outside.people.complete(asked.id, "completed", response={"notes": 5})
    view = await driving
    assert view.error is not None
    assert (view.status, view.error.get("type")) == ("failed", "ResponseInvalid")


async def test_an_unknown_option_is_told():
    async def work(ctx: Context) -> str:
        await ctx.interactive("Look", colour="blue")  # pyright: ignore[reportCallIssue]
        return "never"

    rig = Rig()
    view = await (await rig.start(rig.flow(work)))
    assert view.error is not None
    assert "'colour' is not an option" in view.error["message"]
