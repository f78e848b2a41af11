"""Agents made of plain functions, which run in threads."""

import asyncio

from callboard import Phase, State, Workflow, agent, run


class Nothing(State):
    pass


async def test_an_agent_that_runs_out_of_items_fails_and_does_not_hang():
    @agent
    def exhausted(state: Nothing) -> int:
        return next(iter(list[int]()))

    phases = [Phase("count", agent=exhausted, terminal=True)]

    async with asyncio.timeout(5):
        result = await run(Workflow("counting", state=Nothing, phases=phases))

    assert result.status == "failed"
    assert result.error is not None
    assert "StopIteration" in result.error["message"]
