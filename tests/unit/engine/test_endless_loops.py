"""Phases that go round for ever can be watched, paused and ended like any others."""

import asyncio

from callboard import Callboard, Phase, State, Workflow

ROUND = Workflow(
    "round",
    state=State,
    phases=[
        Phase("a", guard=lambda state: False, next="b"),
        Phase("b", next=lambda state: "a", to=["a", "end"]),
        Phase("end", terminal=True),
    ],
)


async def test_a_loop_without_agents_can_be_paused_and_ended():
    board = Callboard.open(workflows=[ROUND])
    execution = board.run(ROUND, session_id="s")
    assert await execution.pause()
    assert (await execution).status == "paused"
    assert await execution.resume()
    await asyncio.sleep(0)
    assert await execution.abort()
    assert (await execution).status == "cancelled"
