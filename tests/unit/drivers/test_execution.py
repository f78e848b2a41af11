"""A session that this program runs, paused and resumed at awkward moments."""

import asyncio
from typing import Any

import pytest

from callboard import Event, Phase, State, Workflow, agent, run


class Notes(State):
    seen: list[str] = []


def note(state: Notes, output: str) -> None:
    state.seen.append(output)


@agent
async def work(state: Notes) -> str:
    await asyncio.sleep(0)
    return "done"


FLOW = Workflow(
    "w",
    state=Notes,
    phases=[
        Phase("a", agent=work, update=note, next="b"),
        Phase("b", agent=work, update=note, next="c"),
        Phase("c", agent=work, update=note, terminal=True),
    ],
)


@pytest.mark.parametrize("turns", range(0, 40, 3))
async def test_a_pause_that_is_taken_back_at_once_changes_nothing(turns: int):
    execution = run(FLOW)
    for _ in range(turns):
        await asyncio.sleep(0)
    if await execution.pause():
        assert await execution.resume()
    result = await execution
    assert (result.status, result.state.seen) == ("completed", ["done"] * 3)


async def test_a_slow_observer_does_not_keep_a_session_from_being_resumed():
    gate, heard = asyncio.Event(), asyncio.Event()

    async def slowly(event: Event) -> Any:
        if event.name == "workflow:paused":
            heard.set()
            await gate.wait()

    execution = run(FLOW, on_event=slowly)
    assert await execution.pause()
    await heard.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    assert await execution.resume()
    gate.set()
    assert (await execution).status == "completed"
