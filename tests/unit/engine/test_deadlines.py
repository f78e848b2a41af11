"""When nobody answers in time: reminders, answers by the clock, failures, escalations."""

import asyncio
from typing import Any

import pytest
from tests.unit.engine.rig import Notes, Rig

from callboard import Approval, Choice, Context, Escalate, Phase, Workflow
from callboard.drivers.local import Manner
from callboard.errors import AlreadyAnswered, InteractionClosed
from callboard.events.rows import Query
from callboard.testing.commands import answer, pause, resume, time
from callboard.testing.given import Given, given
from callboard.testing.scripted import ScriptedPeople

HOUR = 3600.0


def waiting(question: Approval | Choice) -> Given:
    """A session that waits for the answer to this question."""
    flow = Workflow("w", state=Notes, phases=[Phase("p", human=question, terminal=True)])
    return given(flow).when().then("phase:entered", "input:requested")


def approval(on_timeout: Any) -> Approval:
    return Approval("Sure?", timeout=HOUR, on_timeout=on_timeout)


@pytest.mark.parametrize(
    ("question", "value", "approved"),
    [
        (approval("approve"), "yes", True),
        (approval(True), "yes", True),
        (approval("reject"), "no", False),
        (approval(False), "no", False),
        (Choice("Which?", ["a", "b"], timeout=HOUR, on_timeout="b"), "b", None),
        (Choice("Which?", ["a"], other=True, timeout=HOUR, on_timeout="none"), "none", None),
    ],
)
def test_the_clock_answers_and_the_response_says_so(
    question: Approval | Choice, value: str, approved: bool | None
):
    session = waiting(question).when(time(HOUR))
    session.then(
        ("input:expired", {"timedOut": True, "value": value}),
        "state:intent",
        "phase:exited",
        "workflow:completed",
    ).then_state(
        approved=approved,
        humanResponse={"value": value, "approved": approved, "timedOut": True},
    )
    assert session.state.human_response["timed_out"] is True


def test_nothing_happens_before_the_time_is_up():
    waiting(approval("reject")).when(time(HOUR - 0.001)).then().then_status("waiting")


def test_by_default_people_are_only_reminded():
    reminded = waiting(approval("wait")).when(time(HOUR)).then("input:reminded")
    reminded.then_status("waiting").when(time(10 * HOUR)).then()
    reminded.when(answer("yes")).then("input:received", ..., "workflow:completed").then_state(
        humanResponse=lambda response: "timedOut" not in response
    )


def test_a_question_may_fail_the_workflow():
    waiting(approval("fail")).when(time(HOUR)).then(
        ("input:expired", {"fail": True}),
        ("phase:failed", {"error": {"code": "QUESTION_TIMED_OUT"}}),
        ("phase:exited", {"reason": "error"}),
        "workflow:failed",
    )


def test_others_are_asked_one_after_the_other():
    chain = Escalate("boss", after=HOUR, then=Escalate(["ann", "bob"], after=HOUR, then="approve"))
    first = waiting(approval(chain)).when(time(HOUR)).then(("input:escalated", {"to": ["boss"]}))
    first.when(answer("no", by="boss")).then(("input:received", {"by": "boss"}), ...)
    second = first.when(time(HOUR)).then(("input:escalated", {"to": ["ann", "bob"]}))
    second.when(time(HOUR)).then(("input:expired", {"approved": True}), ...).then_status(
        "completed"
    )


def test_without_an_end_the_last_ones_asked_have_all_the_time():
    asked = waiting(approval(Escalate("boss"))).when(time(HOUR)).then("input:escalated")
    asked.when(time(99 * HOUR)).then().then_status("waiting")


def test_a_pause_outlasts_the_deadline():
    paused = waiting(approval("reject")).when(pause()).then("workflow:pausing", "workflow:paused")
    later = paused.when(time(2 * HOUR)).then().then_status("paused")
    later.when(resume()).then("workflow:resumed", "input:expired", ...)
    later.when(answer("yes"), resume()).then("input:received", "workflow:resumed", ...).then_state(
        approved=True
    )


@pytest.fixture
def rig() -> Rig:
    return Rig()


def phase(question: Approval | Choice) -> Workflow:
    return Workflow("w", state=Notes, phases=[Phase("p", human=question, terminal=True)])


async def test_a_late_answer_is_told_that_time_ran_out(rig: Rig):
    flow = phase(approval("reject"))
    await (await rig.start(flow))
    (question,) = await rig.outside.inbox()
    await rig.clock.advance(HOUR)
    await rig.process(flow).driver.recover()
    with pytest.raises(InteractionClosed, match="timed out"):
        await rig.outside.answer(question.id, "yes")
    assert (await rig.outside.interaction(question.id)).status == "timeout"


@pytest.mark.parametrize("on_timeout", ["reject", "fail"])
async def test_an_answer_is_late_too_when_nobody_has_driven_the_session_since(
    rig: Rig, on_timeout: str
):
    flow = phase(approval(on_timeout))
    await (await rig.start(flow))
    (question,) = await rig.outside.inbox()
    await rig.clock.advance(HOUR)
    with pytest.raises(InteractionClosed, match="timed out"):
        await rig.outside.answer(question.id, "yes")
    assert await rig.outside.inbox() == []
    (view,) = await rig.process(flow).driver.recover()
    assert view.status == ("failed" if on_timeout == "fail" else "completed")


async def test_a_second_answer_is_told_even_when_the_first_has_been_acted_on(rig: Rig):
    flow = phase(Approval("Sure?"))
    await (await rig.start(flow))
    (question,) = await rig.outside.inbox()
    slow = rig.process(flow)
    gate = asyncio.Event()
    rig.log.delay(gate, before=1)
    second = asyncio.create_task(slow.answer(question.id, "no"))
    await rig.clock.advance(0)
    await rig.outside.answer(question.id, "yes")
    await rig.process(flow).driver.recover()
    gate.set()
    with pytest.raises(AlreadyAnswered, match="already been answered: yes"):
        await second


@pytest.mark.parametrize("on_timeout", ["wait", Escalate("boss")])
async def test_an_answer_is_not_late_where_the_clock_closes_nothing(rig: Rig, on_timeout: Any):
    flow = phase(approval(on_timeout))
    await (await rig.start(flow))
    (question,) = await rig.outside.inbox()
    await rig.clock.advance(HOUR)
    await rig.outside.answer(question.id, "yes")
    (view,) = await rig.process(flow).driver.recover()
    assert (view.status, view.state["approved"]) == ("completed", True)


async def test_a_deadline_wakes_the_session_of_nobody(rig: Rig):
    flow = phase(approval("reject"))
    assert (await (await rig.start(flow))).status == "waiting"
    assert await rig.process(flow).driver.recover() == []
    await rig.clock.advance(HOUR)
    (view,) = await rig.process(flow).driver.recover()
    assert view.status == "completed"
    assert await rig.outside.log.rows(Query("wakeups")) == []


async def test_a_deadline_passes_while_a_person_here_thinks(rig: Rig):
    people = ScriptedPeople(True, held=True)
    driving = await rig.start(phase(approval("reject")), Manner(people=people))
    await people.asked()
    await rig.clock.advance(HOUR)
    view = await driving
    assert (view.status, view.state["approved"]) == ("completed", False)


async def test_an_answer_in_time_stops_the_clock(rig: Rig):
    flow = phase(approval("fail"))
    await (await rig.start(flow))
    (question,) = await rig.outside.inbox()
    await rig.outside.answer(question.id, "yes")
    assert await rig.outside.log.rows(Query("wakeups")) == []
    await rig.clock.advance(2 * HOUR)
    (view,) = await rig.process(flow).driver.recover()
    assert (view.status, view.state["approved"]) == ("completed", True)


@pytest.mark.parametrize(
    ("on_timeout", "gives"), [("approve", True), ("reject", False), (None, "reminded")]
)
@pytest.mark.parametrize("timeout", [10.0, HOUR], ids=["while it lingers", "after it was unwound"])
async def test_an_agents_question_runs_out(rig: Rig, on_timeout: Any, gives: Any, timeout: float):
    async def ask(ctx: Context) -> Any:
        return await ctx.ask("Sure?", timeout=timeout, on_timeout=on_timeout)

    flow = rig.flow(ask)
    driving = await rig.start(flow)
    await rig.clock.advance(timeout)
    if timeout == HOUR:
        await driving
        driving = await rig.drive(rig.process(flow))
    if gives == "reminded":
        assert len(await rig.events("reminded")) == 1
        await rig.answer("Sure?")
        driving = driving if timeout < HOUR else await rig.drive(rig.process(flow))
    view = await driving
    assert view.state["seen"] == [True if gives == "reminded" else gives]
    assert rig.calls == ([1, 2] if timeout == HOUR else [1])


async def test_an_agents_question_may_fail_the_agent(rig: Rig):
    async def ask(ctx: Context) -> Any:
        return await ctx.ask("Sure?", timeout=10, on_timeout="fail")

    driving = await rig.start(rig.flow(ask))
    await rig.clock.advance(10)
    view = await driving
    assert view.error is not None
    assert view.error["code"] == "QUESTION_TIMED_OUT"


async def test_an_agents_choice_runs_out_through_an_escalation(rig: Rig):
    chain = Escalate("boss", after=10, then="b")

    async def choose(ctx: Context) -> str:
        return await ctx.choose("Which?", ["a", "b"], timeout=10, on_timeout=chain)

    driving = await rig.start(rig.flow(choose))
    await rig.clock.advance(10)
    (question,) = await rig.outside.inbox()
    assert question.assigned_to == ["boss"]
    await rig.clock.advance(10)
    assert (await driving).state["seen"] == ["b"]


async def test_of_two_questions_the_first_deadline_counts_first(rig: Rig):
    async def gather(ctx: Context) -> list[bool]:
        slow = ctx.ask("Slow?", timeout=20, on_timeout="reject")
        quick = ctx.ask("Quick?", timeout=5, on_timeout="approve")
        return list(await asyncio.gather(slow, quick))

    driving = await rig.start(rig.flow(gather))
    await rig.clock.advance(5)
    assert list(await rig.inbox()) == ["Slow?"]
    await rig.clock.advance(15)
    assert (await driving).state["seen"] == [[False, True]]
