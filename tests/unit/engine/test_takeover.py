"""A driver that was frozen and replaced: it can append nothing, and does nothing more."""

import asyncio

import pytest
from tests.unit.engine.rig import Driving, Notes, Rig, note

from callboard import Callboard, Context, Phase, Workflow, agent
from callboard.errors import OwnershipLost
from callboard.log.memory import MemoryLog


class Frozen:
    """A session whose driver is taken for dead while its agent waits for a gate."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.gates: list[asyncio.Event] = []
        self.effects: list[int] = []

        @agent
        async def work(state: Notes, ctx: Context) -> str:
            gate = asyncio.Event()
            self.gates.append(gate)
            await gate.wait()
            await ctx.once("effect", lambda: self.effects.append(ctx.attempt))
            return "done"

        @agent
        async def more(state: Notes, ctx: Context) -> str:
            self.effects.append(99)
            return "more"

        self.flow = Workflow(
            "w",
            state=Notes,
            phases=[
                Phase("p", agent=work, update=note, next="q"),
                Phase("q", agent=more, update=note, terminal=True),
            ],
        )

    async def freeze(self) -> Driving:
        """Begin the session, and let everyone believe that its driver is dead."""
        driving = await self.rig.start(self.flow)
        self.rig.memory.living.pop(self.rig.log.owner)
        return driving

    def other(self) -> Callboard:
        return self.rig.process(self.flow)


@pytest.fixture
def frozen() -> Frozen:
    return Frozen()


async def test_it_is_told_when_it_wakes_and_has_no_effect(frozen: Frozen):
    driving = await frozen.freeze()
    again = await frozen.rig.drive(frozen.other())
    frozen.gates[0].set()
    with pytest.raises(OwnershipLost):
        await driving
    assert frozen.effects == []
    frozen.gates[1].set()
    assert (await again).status == "completed"
    assert frozen.effects == [2, 99]


@pytest.mark.parametrize("end", ["cancel", "pause"])
async def test_it_comes_home_quietly_when_the_session_was_ended_or_paused(frozen: Frozen, end: str):
    driving = await frozen.freeze()
    other = frozen.other()
    await (other.cancel("s") if end == "cancel" else other.pause("s"))
    frozen.gates[0].set()
    assert (await driving).status == ("cancelled" if end == "cancel" else "paused")
    assert frozen.effects == []
    events = await frozen.rig.events()
    assert events[-1].name == ("workflow:cancelled" if end == "cancel" else "workflow:paused")


async def test_a_driver_that_is_cut_off_stops_its_agent_and_starts_it_again_later(frozen: Frozen):
    driving = await frozen.rig.start(frozen.flow)
    handle = frozen.rig.log.log
    assert isinstance(handle, MemoryLog)
    handle.is_cut_off = True
    handle.listeners.wake_all()
    await asyncio.sleep(0)
    handle.is_cut_off = False
    await frozen.rig.clock.advance(0)
    assert [one.payload["reason"] for one in await frozen.rig.events("interrupted")] == ["stopped"]
    frozen.gates[1].set()
    assert (await driving).status == "completed"
    assert frozen.effects == [2, 99]


async def test_a_driver_starts_no_agent_while_it_is_cut_off(frozen: Frozen):
    driving = await frozen.rig.start(frozen.flow)
    handle = frozen.rig.log.log
    assert isinstance(handle, MemoryLog)
    handle.is_cut_off = True
    handle.listeners.wake_all()
    await frozen.rig.clock.advance(60)
    assert len(await frozen.rig.events("started")) == 2  # The workflow, and the first attempt.
    handle.is_cut_off = False
    handle.listeners.wake_all()
    await frozen.rig.clock.advance(0)
    frozen.gates[1].set()
    assert (await driving).status == "completed"
    assert frozen.effects == [2, 99]
    assert len(await frozen.rig.events("interrupted")) == 1


@pytest.mark.parametrize("is_heard", [False, True], ids=["with the reply", "before it"])
async def test_a_driver_starts_no_agent_when_it_is_cut_off_while_it_commits_the_start(
    frozen: Frozen, *, is_heard: bool
):
    driving = await frozen.rig.start(frozen.flow)
    handle, replied = frozen.rig.log.log, asyncio.Event()
    assert isinstance(handle, MemoryLog)
    # The next append is the effect's, and the one after it starts the second agent.
    frozen.rig.log.delay(replied, after=frozen.rig.log.appends + 2)
    frozen.gates[0].set()
    await frozen.rig.clock.advance(0)
    assert len(await frozen.rig.events("agent:started")) == 2
    handle.is_cut_off = True
    if is_heard:
        handle.listeners.wake_all()
        await frozen.rig.clock.advance(0)
        replied.set()
    else:
        replied.set()
        handle.listeners.wake_all()
    await frozen.rig.clock.advance(60)
    assert frozen.effects == [1]
    handle.is_cut_off = False
    handle.listeners.wake_all()
    await frozen.rig.clock.advance(0)
    assert frozen.effects == [1, 99]
    assert (await driving).status == "completed"
    told = await frozen.rig.events("interrupted")
    assert [one.payload["reason"] for one in told] == ["stopped"]


async def test_after_a_failover_a_driven_session_is_read_again(frozen: Frozen):
    driving = await frozen.rig.start(frozen.flow)
    handle = frozen.rig.log.log
    assert isinstance(handle, MemoryLog)
    handle.incarnation = 2
    frozen.gates[0].set()
    assert (await driving).status == "completed"
    assert frozen.effects == [1, 99]
