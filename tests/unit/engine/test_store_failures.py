"""A store that fails for a moment, and drivers that die at the wrong one."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.unit.engine.rig import Notes, Rig, note

from callboard import Approval, Callboard, Context, Output, Phase, Text, Workflow, agent
from callboard.drivers.local import Manner
from callboard.errors import StoreBusy
from callboard.events import names
from callboard.log.memory import MemoryLog
from callboard.log.protocol import Lease
from callboard.state.rows import project
from callboard.testing.faults import FaultyLog
from callboard.testing.scripted import ScriptedPeople


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_a_handler_is_not_blamed_for_the_store(rig: Rig):
    flow = Workflow("w", state=Notes, phases=[Phase("p", human=Approval("Sure?"), terminal=True)])
    people = ScriptedPeople({"Sure?": True})
    board = rig.process(flow)
    rig.log.fail(StoreBusy("busy"), before=2)
    with pytest.raises(StoreBusy):
        await board.run(flow, session_id="s", human_input=people)
    (before,) = await rig.outside.inbox()
    assert (await board.drive("s", human_input=people)).status == "completed"
    assert [request.id for request in people.requests] == [before.id, before.id]


@pytest.mark.parametrize("append", [2, 3, 4])
async def test_what_an_agent_says_is_not_lost(rig: Rig, append: int):
    async def talk(state: Notes, ctx: Context) -> AsyncGenerator[Any, None]:
        yield Text("one ")
        await rig.clock.sleep(1)
        yield Text("two ")
        await rig.clock.sleep(1)
        yield Output("said")

    phase = Phase("p", agent=agent(talk), update=note, terminal=True)
    flow = Workflow("w", state=Notes, phases=[phase])
    board = rig.process(flow)
    rig.log.fail(StoreBusy("busy"), before=append)
    driving = asyncio.ensure_future(board.run(flow, session_id="s"))
    await rig.clock.advance(9)
    try:
        assert (await driving).status == "completed"
    except StoreBusy:
        again = await rig.drive(board)
        await rig.clock.advance(9)
        await again
    attempt = (await rig.events("agent:started"))[-1].payload["attempt"]
    said = names.TEXT_DELTA.among(await rig.events())
    assert "".join(one["delta"] for one in said if one["attempt"] == attempt) == "one two "


class Meddling(FaultyLog):
    """Lets something happen right after the lease was looked at."""

    meddle: Any = None

    async def lease(self, stream: str) -> Lease | None:
        found = await super().lease(stream)
        if self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return found


async def test_a_pause_is_finished_though_the_driver_dies_under_it(rig: Rig):
    async def forever(ctx: Context) -> None:
        await asyncio.Event().wait()

    flow = rig.flow(forever)
    driving = await rig.start(flow)
    log = Meddling(MemoryLog(project, rig.clock, rig.memory))
    log.meddle = rig.log.crash
    assert await Callboard(log, clock=rig.clock).pause("s")
    driving.cancel()
    await asyncio.wait({driving})
    await rig.process(flow).driver.recover(Manner())
    assert (await rig.outside.session("s")).status == "paused"


async def test_a_session_that_only_waits_is_recovered_once(rig: Rig):
    flow = Workflow("w", state=Notes, phases=[Phase("p", human=Approval("Sure?"), terminal=True)])
    people = ScriptedPeople(True, held=True)
    driving = await rig.start(flow, Manner(people=people))
    await people.asked()
    rig.log.crash()
    driving.cancel()
    await asyncio.wait({driving})
    assert len(await rig.process(flow).driver.recover()) == 1
    assert await rig.process(flow).driver.recover() == []
    await rig.answer("Sure?")
    (view,) = await rig.process(flow).driver.recover()
    assert view.status == "completed"
