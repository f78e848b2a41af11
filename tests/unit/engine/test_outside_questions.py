"""An agent that asks people: it waits a while in memory, is unwound, and runs again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest
from tests.unit.engine.rig import Rig

from callboard import Approval, Context, Retry
from callboard.drivers.local import Manner
from callboard.engine.operations import begin
from callboard.engine.runner import LINGER
from callboard.errors import SessionOwned
from callboard.testing.faults import Crashed
from callboard.testing.scripted import ScriptedPeople


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def ask_once(ctx: Context) -> bool:
    return await ctx.ask("Sure?")


async def test_an_answer_from_another_process_wakes_the_agent_where_it_waits(rig: Rig):
    driving = await rig.start(rig.flow(ask_once))
    await rig.clock.advance(LINGER - 1)
    await rig.answer("Sure?")
    assert (await driving).state["seen"] == [True]
    assert rig.calls == [1]
    assert await rig.events("interrupted") == []


async def test_after_a_while_the_agent_is_unwound_and_run_again_on_the_answer(rig: Rig):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    await rig.clock.advance(LINGER)
    assert (await driving).status == "waiting"
    assert [e.payload["reason"] for e in await rig.events("interrupted")] == ["waiting"]
    lease = await rig.outside.log.lease("s")
    assert lease is not None
    assert lease.owner is None
    await rig.answer("Sure?", "no")
    (view,) = await rig.process(flow).driver.recover()
    assert (view.status, view.state["seen"]) == ("completed", [False])
    assert rig.calls == [1, 2]
    assert len(await rig.events("input:requested")) == 1


async def test_no_handler_of_errors_stops_the_unwinding(rig: Rig):
    async def stubborn(ctx: Context) -> Any:
        try:
            return await ctx.ask("Sure?")
        except Exception:
            return "caught"

    driving = await rig.start(rig.flow(stubborn))
    await rig.clock.advance(LINGER)
    assert (await driving).status == "waiting"


async def test_an_agent_that_finds_its_question_again_is_unwound_too(rig: Rig):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    rig.log.crash()
    driving.cancel()
    again = await rig.drive(rig.process(flow))
    await rig.clock.advance(LINGER)
    assert (await again).status == "waiting"
    assert rig.calls == [1, 2]
    await asyncio.wait({driving})


async def test_a_question_keeps_its_id_when_the_process_dies(rig: Rig):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    (before,) = (await rig.inbox()).values()
    rig.log.crash()
    driving.cancel()
    again = await rig.drive(rig.process(flow))
    (after,) = (await rig.inbox()).values()
    assert after == before
    await rig.answer("Sure?")
    assert (await again).state["seen"] == [True]
    await asyncio.wait({driving})


async def test_an_answer_given_while_nobody_drives_is_used(rig: Rig):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    rig.log.crash()
    driving.cancel()
    await rig.answer("Sure?", "no")
    (view,) = await rig.process(flow).driver.recover()
    assert view.state["seen"] == [False]
    await asyncio.wait({driving})


async def test_waiting_does_not_count_towards_the_timeout(rig: Rig):
    async def slow(ctx: Context) -> str:
        await rig.clock.sleep(3)
        await ctx.ask("Sure?")
        await rig.clock.sleep(3)
        await asyncio.gather(ctx.ask("Really?"), ctx.ask("Quite?"))
        await rig.clock.sleep(3)
        return "in time"

    driving = await rig.start(rig.flow(slow, timeout=10))
    await rig.clock.advance(3 + 20)
    await rig.answer("Sure?")
    await rig.clock.advance(3 + 10)
    await rig.answer("Quite?")
    await rig.clock.advance(10)
    await rig.answer("Really?")
    await rig.clock.advance(3)
    assert (await driving).state["seen"] == ["in time"]


async def test_work_after_the_answer_counts_towards_the_timeout(rig: Rig):
    async def slow(ctx: Context) -> None:
        await rig.clock.sleep(6)
        await ctx.ask("Sure?")
        await rig.clock.sleep(6)

    driving = await rig.start(rig.flow(slow, timeout=10))
    await rig.clock.advance(20)
    await rig.answer("Sure?")
    await rig.clock.advance(4)
    view = await driving
    assert view.error is not None
    assert view.error["code"] == "AGENT_TIMED_OUT"


@pytest.mark.parametrize("interrupt", [False, True])
async def test_a_waiting_agent_can_be_paused(rig: Rig, interrupt: bool):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    (before,) = (await rig.inbox()).values()
    assert await rig.outside.pause("s", interrupt=interrupt)
    assert (await driving).status == "paused"
    assert list((await rig.inbox()).values()) == [before]
    assert await rig.outside.resume("s")
    again = await rig.drive(rig.process(flow))
    await rig.answer("Sure?")
    assert (await again).state["seen"] == [True]


async def test_an_answer_to_a_paused_session_is_kept_and_used_when_it_goes_on(rig: Rig):
    flow = rig.flow(ask_once)
    driving = await rig.start(flow)
    await rig.outside.pause("s")
    await driving
    await rig.answer("Sure?", "no")
    assert await rig.process(flow).driver.recover() == []
    assert (await rig.outside.session("s")).status == "paused"
    await rig.outside.resume("s")
    (view,) = await rig.process(flow).driver.recover()
    assert (view.state["seen"], rig.calls) == ([False], [1, 2])


async def test_a_pause_does_not_wait_for_a_person_who_is_being_asked(rig: Rig):
    people = ScriptedPeople(True, held=True)
    driving = await rig.start(rig.flow(ask_once), Manner(people=people))
    await people.asked()
    await rig.outside.pause("s")
    await rig.clock.advance(0)
    assert driving.done()
    assert (await driving).status == "paused"


async def test_questions_that_are_not_repeated_are_cancelled(rig: Rig):
    async def forgetful(ctx: Context) -> bool:
        if ctx.attempt == 1:
            await asyncio.gather(ctx.ask("Sure?"), ctx.ask("Really?"), ctx.ask("Quite?"))
        return await ctx.ask("Sure?")

    flow = rig.flow(forgetful)
    driving = await rig.start(flow)
    await rig.clock.advance(LINGER)
    await driving
    await rig.answer("Sure?")
    (view,) = await rig.process(flow).driver.recover()
    assert view.status == "completed"
    assert await rig.inbox() == {}
    assert len(await rig.events("input:cancelled")) == 2


@pytest.mark.parametrize("order", list(permutations(["a?", "b?", "c?"])))
@pytest.mark.parametrize("wait", [0, LINGER])
async def test_questions_asked_at_once_are_answered_in_any_order(
    rig: Rig, order: tuple[str, ...], wait: float
):
    async def gather(ctx: Context) -> list[bool]:
        return list(await asyncio.gather(ctx.ask("a?"), ctx.ask("b?"), ctx.ask("c?")))

    flow = rig.flow(gather)
    driving = await rig.start(flow)
    for prompt in order:
        await rig.clock.advance(wait)
        await rig.answer(prompt, "no" if prompt == "b?" else "yes")
        if wait:
            driving = await rig.drive(rig.process(flow))
    assert (await driving).state["seen"] == [[True, False, True]]
    assert len(await rig.events("input:requested")) == 3


@pytest.mark.parametrize("order", list(permutations(["a?", "b?", "c?"])))
@pytest.mark.parametrize("wait", [0, LINGER])
async def test_items_that_ask_are_answered_in_any_order(
    rig: Rig, order: tuple[str, ...], wait: float
):
    async def one(ctx: Context) -> str:
        return f"{ctx.item} {await ctx.ask(f'{ctx.item}?')}"

    flow = rig.flow(one, for_each=lambda state: ["a", "b", "c"], parallel=1)
    driving = await rig.start(flow)
    for prompt in order:
        await rig.clock.advance(wait)
        await rig.answer(prompt, "no" if prompt == "b?" else "yes")
        if wait:
            driving = await rig.drive(rig.process(flow))
    assert (await driving).state["seen"] == ["a True", "b False", "c True"]
    assert len(await rig.events("input:requested")) == 3


async def test_questions_are_told_apart_by_key_and_by_which_time_they_are_asked(rig: Rig):
    async def insistent(ctx: Context) -> list[Any]:
        first, second = await ctx.ask("Sure?"), await ctx.ask("Sure?")
        picked = await ctx.choose("Sure?", ["yes", "no"])
        keyed = await ctx.ask("Sure?", key="k"), await ctx.ask("Quite sure?", key="k")
        return [first, second, picked, *keyed]

    flow = rig.flow(insistent)
    driving = await rig.start(flow)
    for value in ("yes", "no", "no", "yes", "no"):
        (question,) = await rig.outside.inbox("s")
        await rig.clock.advance(LINGER)
        await driving
        await rig.outside.answer(question.id, value)
        driving = await rig.drive(rig.process(flow))
    assert (await driving).state["seen"] == [[True, False, "no", True, False]]
    assert len(await rig.events("input:requested")) == 5


async def test_an_agent_that_cancels_itself_has_failed(rig: Rig):
    async def confused(ctx: Context) -> None:
        task = asyncio.create_task(asyncio.sleep(9))
        task.cancel()
        await task

    view = await asyncio.wait_for(await rig.start(rig.flow(confused)), 5)
    assert view.status == "failed"


async def test_a_session_that_others_have_ended_is_asked_nothing_more(rig: Rig):
    async def stubborn(ctx: Context) -> bool:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return await ctx.ask("Sure?")

    driving = await rig.start(rig.flow(stubborn))
    await rig.outside.cancel("s")
    await rig.clock.advance(LINGER)
    assert (await driving).status == "cancelled"
    assert (await rig.events())[-1].name == "workflow:cancelled"


async def test_a_question_that_comes_too_late_is_not_asked(rig: Rig):
    flow, gate = rig.flow(ask_once), asyncio.Event()
    board = rig.process(flow)
    rig.log.delay(gate, before=2)
    begun = board.driver.begin(flow, "s", begin(flow, None), Manner(linger=LINGER))
    driving = asyncio.create_task(begun)
    await rig.clock.advance(0)
    await rig.outside.cancel("s")
    gate.set()
    await rig.clock.advance(LINGER)
    assert (await driving).status == "cancelled"
    assert (await rig.events())[-1].name == "workflow:cancelled"


async def nothing(ctx: Context) -> None:
    pass


@pytest.mark.parametrize("work", [ask_once, nothing], ids=["agent's question", "phase's question"])
async def test_a_second_driver_is_told_while_the_first_waits_for_a_person(
    rig: Rig, work: Callable[..., Any]
):
    flow = rig.flow(work, human=Approval("Done?"))
    first, second = ScriptedPeople(True, True, held=True), ScriptedPeople(True)
    driving = await rig.start(flow, Manner(people=first))
    await first.asked()
    with pytest.raises(SessionOwned):
        await rig.process(flow).driver.drive("s", Manner(people=second))
    assert second.prompts == []
    first.release()
    assert (await driving).status == "completed"


async def test_a_second_driver_is_told_while_the_first_waits_to_try_again(rig: Rig):
    async def failing(ctx: Context) -> None:
        raise ConnectionError("no")

    flow = rig.flow(failing, retry=Retry(2, backoff=60))
    driving = await rig.start(flow)
    with pytest.raises(SessionOwned):
        await rig.process(flow).driver.drive("s")
    await rig.clock.advance(60)
    assert (await driving).status == "failed"


async def test_a_crash_while_it_is_being_asked_leaves_no_question_behind(rig: Rig):
    flow = rig.flow(ask_once)
    board = rig.process(flow)
    rig.log.crash(before=2)
    begun = board.driver.begin(flow, "s", begin(flow, None), Manner(linger=LINGER))
    with pytest.raises(Crashed):
        await begun
    assert await rig.inbox() == {}
    again = await rig.drive(rig.process(flow))
    assert list(await rig.inbox()) == ["Sure?"]
    await rig.answer("Sure?")
    await again


async def test_an_effect_happens_once_though_it_is_asked_for_twice_at_once(rig: Rig):
    done: list[str] = []

    async def twice(ctx: Context) -> list[int]:
        async def effect() -> int:
            await asyncio.sleep(0)
            done.append(ctx.key)
            return len(done)

        return list(await asyncio.gather(ctx.once("k", effect), ctx.once("k", effect)))

    assert (await (await rig.start(rig.flow(twice)))).state["seen"] == [[1, 1]]
    assert len(done) == 1
