"""The conversations of the four real clients, as `callboard transcript` shows them."""

import json
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.board import Board, Wire
from tests.real_clients.four_clients import Agent, agent_on
from tests.real_clients.home import CALLBOARD, Home

SLOW_TO_START = [pytest.param(one, marks=pytest.mark.long) for one in ("gemini", "opencode")]


@pytest.fixture(params=["claude", "codex", *SLOW_TO_START])
async def agent(
    request: pytest.FixtureRequest, home: Home, data_board: Board
) -> AsyncGenerator[Agent]:
    async with agent_on(data_board, home, request.param) as made:
        yield made


async def printed(agent: Agent, *words: str) -> str:
    done = await agent.home.run(CALLBOARD, "transcript", *words, env=agent.client.env)
    assert done.code == 0, done
    return done.out


async def items(agent: Agent, *words: str) -> list[Wire]:
    return [json.loads(line) for line in (await printed(agent, *words, "--json")).splitlines()]


async def test_a_conversation_is_read_searched_and_linked(agent: Agent):
    async with agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        session.finish_tool()
        await session.terminal.shows("It ran.")
        await agent.board.plate(status="idle", lastEvent="stop")
        id = plate["plateId"]
        shown = await printed(agent, id)
        prompt, call, reply = (shown.index(one) for one in ("play:run", "touch", "It ran."))
        assert prompt < call < reply
        (found,) = await items(agent, id, "--search", "it ran")
        (linked,) = await items(agent, f"{id}#{found['id']}")
        assert (linked["kind"], linked["text"]) == ("reply", "It ran.")
    assert "It ran." in await printed(agent, id), "it is read after its end too"
