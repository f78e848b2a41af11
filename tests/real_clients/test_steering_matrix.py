"""What people write to Codex and opencode, from the composer to the model and back.

`test_claude_messages` and `test_gemini_steering` have the same for the other two.
"""

from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.board import Board, Wire
from tests.real_clients.four_clients import Agent, agent_on
from tests.real_clients.home import CALLBOARD, Home
from tests.real_clients.steered import listed, reached, receipt, write
from tests.servers import TOKEN

TABLE = "Use the other table."
TEXTS = ("First of all.", "Second of all.", "Third of all.")


@pytest.fixture(params=["codex", "opencode"])
async def agent(request: pytest.FixtureRequest, home: Home, board: Board) -> AsyncGenerator[Agent]:
    async with agent_on(board, home, request.param) as made:
        yield made


async def was_seen_once(agent: Agent, plate: Wire, text: str) -> Wire:
    """Wait until it is seen; the model was given it once, and nobody was told anything else."""
    found = await receipt(agent.board, plate, text, "seen")
    assert agent.times_given(text) == 1
    events = await agent.board.events(plate)
    mine = [one["name"] for one in events if one["payload"].get("id") == found["id"]]
    ends = [mine.count(f"message_{one}") for one in ("delivered", "seen", "lost")]
    assert ends == [1, 1, 0]
    return found


async def test_callboard_say_wakes_an_idle_session(agent: Agent, home: Home):
    async with agent.working("play:greet") as session:
        plate = await session.is_idle()
        text = f"play:again. {TABLE}"
        words = ("say", plate["plateId"][:12], text, "--wait", f"--server={agent.board.server.url}")
        done = await home.run(CALLBOARD, *words, env={"CALLBOARD_TOKEN": TOKEN})
        assert done.code == 0, done
        await session.terminal.shows(text, "Hello again.")
        found = await was_seen_once(agent, plate, text)
        assert found["authority"] is True
        # Each attempt before it was given back, for sure, by a client that was busy.
        told = await agent.board.told(plate)
        assert found["attempt"] == 1 + told.count("message_returned")


@pytest.mark.long
async def test_while_a_tool_runs(agent: Agent):
    async with agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        await write(agent.board, plate, TABLE)
        await receipt(agent.board, plate, TABLE, "handed", "delivered")
        assert not agent.times_given(TABLE)
        session.finish_tool()
        await was_seen_once(agent, plate, TABLE)
        await session.terminal.shows("It ran.")


@pytest.mark.long
async def test_a_permission_is_not_answered_by_a_message(agent: Agent):
    """Its person denies it in the end: if a message had allowed it, there would be a file."""
    async with agent.working("play:ask", asks=True) as session:
        plate = await session.asks()
        assert "dialog" in (await reached(agent.board, plate))["reach"]["note"]
        await write(agent.board, plate, "Yes")
        await session.terminal.shows(agent.traits.dialog)
        (waiting,) = await listed(agent.board, plate)
        assert waiting["status"] in ("queued", "handed", "delivered")
        await session.terminal.leaves(agent.traits.dialog, "Escape")
        await receipt(agent.board, plate, "Yes", "seen")
    assert not (agent.project / "made").exists()


@pytest.mark.long
async def test_while_it_thinks(agent: Agent):
    async with agent.working("play:think") as session:
        plate = await session.thinks()
        await write(agent.board, plate, TABLE)
        await receipt(agent.board, plate, TABLE, "handed", "delivered")
        assert not agent.times_given(TABLE)
        agent.gate.set()
        await was_seen_once(agent, plate, TABLE)


@pytest.mark.long
async def test_three_are_queued_and_one_is_withdrawn(agent: Agent):
    async with agent.working("play:think") as session:
        plate = await session.thinks()
        first, second, third = [
            await write(agent.board, plate, text, when="after_turn") for text in TEXTS
        ]
        async with agent.board.server.client() as client:
            path = f"/plates/{plate['plateId']}/messages"
            assert (await client.delete(f"{path}/{second['id']}")).status_code == 200
            moved = await client.patch(f"{path}/{third['id']}", json={"before": first["id"]})
            assert moved.status_code == 200
            waiting = [one["status"] for one in await listed(agent.board, plate)]
            assert sorted(waiting) == ["queued", "queued", "withdrawn"]
            agent.gate.set()
            for text in (TEXTS[2], TEXTS[0]):
                await was_seen_once(agent, plate, text)
            assert (await client.delete(f"{path}/{first['id']}")).status_code == 409
        await receipt(agent.board, plate, TEXTS[1], "withdrawn")
    assert agent.times_given(TEXTS[1]) == 0
    last = agent.conversation[-1]
    assert last.index(TEXTS[2]) < last.index(TEXTS[0])
