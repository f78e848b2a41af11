"""`before` and `after`: around a phase's work, once in each visit, and recorded."""

import asyncio
from typing import Any

import pytest

from callboard import Approval, Callboard, Phase, State, Workflow, agent, auto_approve, run
from callboard.engine.context import PhaseContext
from callboard.events.envelope import Event
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import FaultyLog


class Notes(State):
    seen: list[str] = []
    things: list[str] = []


@agent
async def work(state: Notes, ctx: Any) -> str:
    return f"{ctx.phase}{ctx.visit}"


def note(state: Notes, output: Any) -> None:
    state.seen.append(f"update {output}")


def before(state: Notes, ctx: PhaseContext) -> None:
    state.seen.append(f"before {ctx.key.partition(':')[2]}")


def after(state: Notes, output: Any, ctx: PhaseContext) -> None:
    state.seen.append(f"after {ctx.phase}{ctx.visit} {output} {state.approved}")


def reasons(events: list[Event]) -> list[Any]:
    return [event.payload["reason"] for event in events if event.name == "state:intent"]


async def test_they_run_around_the_work_and_the_answer() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase(
                "a",
                agent=work,
                update=note,
                human=Approval("Ok?"),
                before=before,
                after=after,
                until=lambda s: len(s.seen) > 3,
                next="b",
            ),
            Phase("b", before=before, after=after, terminal=True),
        ],
    )
    result = await run(flow, human_input=auto_approve())
    assert result.state.seen == [
        "before a#1:before",
        "update a1",
        "after a1 a1 True",
        "before a#2:before",
        "update a2",
        "after a2 a2 True",
        "before b#1:before",
        "after b1 None True",
    ]
    assert reasons(result.events) == [
        *("before", "update", "human", "after"),
        *("before", "update", "reset", "human", "after"),
        *("before", "after"),
    ]


async def test_before_prepares_the_items() -> None:
    def prepare(state: Notes) -> None:
        state.things = ["x", "y"]

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase(
                "a",
                agent=agent(name="each")(lambda state, ctx: ctx.item),
                before=prepare,
                for_each=lambda state: state.things,
                after=lambda state, output: state.seen.append("".join(output)),
                terminal=True,
            )
        ],
    )
    result = await run(flow)
    assert result.state.seen == ["xy"]


async def test_a_skipped_phase_has_neither() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[Phase("a", guard=lambda s: False, before=before, after=after, terminal=True)],
    )
    result = await run(flow)
    assert result.state.seen == []


@pytest.mark.parametrize("which", ["before", "after"])
async def test_one_that_raises_fails_the_phase_and_is_named(which: str) -> None:
    options: dict[str, Any] = {which: lambda *_: 1 / 0}
    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=work, terminal=True, **options)])
    result = await run(flow)
    assert result.error is not None
    assert result.error["message"] == (
        f"{which} of phase 'a' raised ZeroDivisionError: division by zero"
    )


def counting() -> tuple[dict[str, int], Workflow]:
    """A phase whose functions change nothing, and count how often they are called."""
    calls = {"before": 0, "after": 0}

    def count(state: Notes, *given: Any) -> None:
        calls[given[-1].which] += 1

    phases = [
        Phase("a", agent=work, before=count, after=count, next="b"),
        Phase("b", human=Approval("Ok?"), before=count, terminal=True),
    ]
    return calls, Workflow("w", state=Notes, phases=phases)


async def test_they_are_recorded_though_they_change_nothing() -> None:
    calls, flow = counting()
    result = await run(flow, human_input=auto_approve())
    assert reasons(result.events) == ["before", "after", "before", "human"]
    assert calls == {"before": 2, "after": 1}


async def test_a_conflict_does_not_run_them_again() -> None:
    """Somebody else writes first: the batch is built anew, with what they changed before."""
    calls, flow = counting()
    clock, memory, asked = FakeClock(autojump=True), SharedMemory(), asyncio.Event()
    outside = Callboard(MemoryLog(project, clock, memory), clock=clock)
    log = FaultyLog(MemoryLog(project, clock, memory)).delay(asked, before=2)
    async with Callboard(log, [flow], clock) as board:
        execution = board.run(flow, session_id="s")
        while calls["after"] == 0:
            await asyncio.sleep(0)
        await outside.people.ask(type="approval", prompt="An aside?", session_id="s")
        asked.set()
        result = await execution
    assert calls == {"before": 2, "after": 1}
    assert reasons(result.events) == ["before", "after", "before"]
    assert [event.name for event in result.events].index("input:requested") == 4
