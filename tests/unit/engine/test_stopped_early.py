"""Agents that are stopped, and questions that are withdrawn, before their tasks have run at all."""

import asyncio

import pytest
from tests.unit.engine.rig import Rig

from callboard import Context
from callboard.engine.handler_questions import HandlerQuestions
from callboard.engine.loading import load
from callboard.engine.ports import Request
from callboard.testing.scripted import ScriptedPeople


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def nothing(ctx: Context) -> str:
    return "done"


async def test_a_pause_while_the_start_of_an_agent_is_committed(rig: Rig):
    board, committed = rig.process(rig.flow(nothing)), asyncio.Event()
    rig.log.delay(committed, after=1)
    driving = asyncio.ensure_future(board.run("w", session_id="s"))
    await rig.clock.advance(0)
    await rig.outside.pause("s", interrupt=True)
    committed.set()
    await rig.clock.advance(0)
    assert driving.done()
    assert (await driving).status == "paused"
    assert rig.calls == []
    assert [one.payload["reason"] for one in await rig.events("interrupted")] == ["paused"]


async def test_a_run_that_was_stopped_early_gives_its_slot_back(rig: Rig):
    board, committed = rig.process(rig.flow(nothing, limit="llm")), asyncio.Event()
    await board.limits.set("llm", 1)
    # The first append enters the phase; there is a slot before the second.
    rig.log.delay(committed, after=2)
    driving = asyncio.ensure_future(board.run("w", session_id="s"))
    await rig.clock.advance(0)
    await rig.outside.pause("s", interrupt=True)
    committed.set()
    await rig.clock.advance(1)
    assert (await driving).status == "paused"
    (limit,) = await rig.outside.limits.list()
    assert (limit.in_use, rig.calls) == (0, [])


async def test_a_question_that_is_withdrawn_before_the_handler_has_seen_it(rig: Rig):
    async def asks(ctx: Context) -> bool:
        return await ctx.ask("Sure?")

    await rig.start(rig.flow(asks))
    view = (await load(rig.outside.log, "s")).view
    people, ended = ScriptedPeople(True), asyncio.Event()

    async def record(request: Request, value: object) -> None:
        raise AssertionError(value)

    questions = HandlerQuestions(people, rig.outside.people.get, record, ended.set)
    questions.ask(view)
    view.pausing = {"interrupt": True}
    questions.ask(view)
    assert questions.asked
    await ended.wait()
    assert not questions.asked
    assert people.prompts == []
    # It is still to be asked, if the session goes on.
    assert questions.will_answer(view)
