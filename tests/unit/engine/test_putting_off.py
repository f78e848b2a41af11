"""An agent that cannot work yet is started again later, and that is no failure."""

import asyncio
from typing import Any

import pytest
from tests.unit.engine.rig import Rig

from callboard import Context, Retry, RetryAfter
from callboard.drivers.local import Manner
from callboard.events.json_values import as_object
from callboard.events.rows import Query


@pytest.fixture
def rig() -> Rig:
    return Rig()


def limited(times: int, seconds: float = 60.0):
    """An agent that is turned away so many times."""

    async def work(ctx: Context) -> Any:
        if ctx.attempt <= times:
            raise RetryAfter("Too many requests.", seconds=seconds)
        return "done"

    return work


async def test_it_is_started_again_when_the_time_is_over(rig: Rig):
    driving = await rig.start(rig.flow(limited(1)))
    await rig.clock.advance(59)
    assert rig.calls == [1]
    await rig.clock.advance(1)
    view = await driving
    assert (view.status, view.state["seen"], rig.calls) == ("completed", ["done"], [1, 2])


async def test_no_attempt_of_its_retry_is_used_up(rig: Rig):
    driving = await rig.start(rig.flow(limited(5, 1.0), retry=Retry(1)))
    for _ in range(5):
        await rig.clock.advance(1)
    view = await driving
    assert (view.status, len(rig.calls)) == ("completed", 6)
    assert not await rig.events("phase:failed")


async def test_the_log_tells_why_and_for_how_long(rig: Rig):
    driving = await rig.start(rig.flow(limited(1)))
    [event] = await rig.events("agent:interrupted")
    assert event.payload["reason"] == "postponed"
    assert event.payload["retryInMs"] == 60_000
    error = as_object(event.payload["error"])
    assert error["code"] == "RETRY_AFTER"
    assert error["message"] == "Too many requests."
    driving.cancel()


async def test_the_time_is_kept_across_processes(rig: Rig):
    flow = rig.flow(limited(1))
    driving = await rig.start(flow)
    await rig.clock.advance(20)
    driving.cancel()
    await asyncio.wait({driving})
    later = await rig.drive(rig.process(flow))
    await rig.clock.advance(39)
    assert rig.calls == [1]
    await rig.clock.advance(1)
    assert (await later).status == "completed"
    assert rig.calls == [1, 2]


async def test_a_driver_that_watches_gives_the_session_back_meanwhile(rig: Rig):
    flow = rig.flow(limited(1))
    view = await (await rig.start(flow, Manner(parks=True)))
    assert view.status == "running"
    [row] = await rig.outside.log.rows(Query("wakeups"))
    assert (row["session"], row["at"]) == ("s", rig.clock.now_ms() + 60_000)
    await rig.clock.advance(60)
    again = rig.process(flow)
    assert [info.status for info in await again.recover()] == ["completed"]
    assert not await rig.outside.log.rows(Query("wakeups"))


async def test_it_can_be_paused_meanwhile_and_still_waits_afterwards(rig: Rig):
    flow = rig.flow(limited(1))
    driving = await rig.start(flow)
    await rig.outside.pause("s")
    await rig.clock.advance(0)
    assert (await driving).status == "paused"
    await rig.outside.resume("s")
    again = await rig.drive(rig.process(flow))
    assert rig.calls == [1]
    await rig.clock.advance(60)
    assert (await again).status == "completed"


async def test_one_item_that_waits_lets_the_others_work(rig: Rig):
    async def work(ctx: Context) -> Any:
        if ctx.item == "slow" and ctx.attempt == 1:
            raise RetryAfter(seconds=60)
        return ctx.item

    driving = await rig.start(rig.flow(work, for_each=lambda state: ["slow", "quick"]))
    assert len(await rig.events("agent:completed")) == 1
    await rig.clock.advance(60)
    assert (await driving).state["seen"] == ["slow", "quick"]


async def test_a_time_that_is_over_already_is_at_once(rig: Rig):
    view = await (await rig.start(rig.flow(limited(1, -5.0))))
    assert view.status == "completed"
