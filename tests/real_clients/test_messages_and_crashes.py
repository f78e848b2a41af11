"""Messages to the four real clients, while the server or the client is killed at every step.

The judge is what the model was given. A message that is seen was given once, and one that a client
has (`delivered`) at most once; any other was not given at all. After a crash it is still queued, or
called lost with the reason.
"""

from collections.abc import AsyncGenerator, Generator

import pytest
from tests.real_clients.background import Background, background_in
from tests.real_clients.board import Board, Wire
from tests.real_clients.codex import Codex
from tests.real_clients.four_clients import BY_NAME, Agent, agent_on
from tests.real_clients.home import Home
from tests.real_clients.steered import left_or_taken, listed, receipt, write

TABLE = "Use the other table."
ENDS = ("seen", "lost")

pytestmark = pytest.mark.long


@pytest.fixture(params=sorted(BY_NAME))
async def agent(
    request: pytest.FixtureRequest, home: Home, data_board: Board
) -> AsyncGenerator[Agent]:
    async with agent_on(data_board, home, request.param) as made:
        yield made


@pytest.fixture
def background(agent: Agent) -> Generator[Background]:
    with background_in(agent.home, agent.client.env) as made:
        yield made


async def judge(agent: Agent, plate: Wire, text: str) -> str:
    """What a message's receipt says, once it is known to be true."""
    (found,) = [one for one in await listed(agent.board, plate) if one["text"] == text]
    given, status = agent.times_given(text), found["status"]
    assert given == (status == "seen") or (given, status) == (1, "delivered"), (given, found)
    assert found["status"] != "lost" or found["note"], "it doesn't say why"
    return found["status"]


async def is_known_once_when_resumed(
    agent: Agent, background: Background, plate: Wire, text: str
) -> None:
    """Resume the session. What is queued arrives; what its receipt calls lost, it doesn't have.

    A client that dies may lose what its model was just asked. Then it is queued, and given again to
    a session that knows nothing of it.
    """
    found = await receipt(agent.board, plate, text, "queued", "delivered", *ENDS)
    await background.start("--resume", plate["plateId"], "play:again")
    await agent.was_asked("play:again")
    await agent.board.plate(plateId=plate["plateId"], status="idle", lastEvent="stop")
    wanted = ("seen",) if found["status"] == "queued" else ("delivered", *ENDS)
    found = await receipt(agent.board, plate, text, *wanted)
    assert found["status"] != "lost" or found["note"], "it doesn't say why"
    assert agent.conversation[-1].count(text) == (found["status"] != "lost"), found
    assert agent.times_given(text) <= 1


@pytest.mark.parametrize("step", ["message_queued", "message_handed", "message_delivered"])
async def test_the_server_is_killed_while_an_idle_session_gets_it(agent: Agent, step: str):
    async with agent.working("play:greet") as session:
        plate = await session.is_idle()
        text = f"play:again. {TABLE}"
        await write(agent.board, plate, text)
        await agent.board.heard(plate, step)
        await agent.board.server.kill()
        await agent.board.server.restart()
        await receipt(agent.board, plate, text, *ENDS)
        if await judge(agent, plate, text) == "seen":
            await session.terminal.shows("Hello again.")
        assert (await agent.board.told(plate)).count("message_queued") == 1


@pytest.mark.parametrize("moment", ["left", "taken"])
async def test_the_server_is_killed_while_a_tool_runs(agent: Agent, moment: str):
    """Before the model could get it, or while no server was there to see that it did."""
    async with agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        await write(agent.board, plate, TABLE)
        await left_or_taken(agent.board, plate, TABLE)
        await agent.board.server.kill()
        if moment == "taken":
            session.finish_tool()
            await session.terminal.shows("It ran.")
        await agent.board.server.restart()
        session.finish_tool()
        await receipt(agent.board, plate, TABLE, "seen")
        await judge(agent, plate, TABLE)


async def test_the_client_is_killed_while_a_message_is_queued(agent: Agent, background: Background):
    async with agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        await write(agent.board, plate, TABLE, when="after_turn")
        await session.kill(plate)
    assert await judge(agent, plate, TABLE) == "queued"
    await is_known_once_when_resumed(agent, background, plate, TABLE)


async def test_the_client_is_killed_while_a_message_is_on_its_way(
    agent: Agent, background: Background
):
    """The tool never ends, so the model is never asked again: it can't have been given it."""
    async with agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        await write(agent.board, plate, TABLE)
        await left_or_taken(agent.board, plate, TABLE)
        await session.kill(plate)
    assert agent.times_given(TABLE) == 0
    await is_known_once_when_resumed(agent, background, plate, TABLE)


async def test_the_client_is_killed_once_the_model_has_it(agent: Agent, background: Background):
    async with agent.working("play:greet") as session:
        plate = await session.is_idle()
        text = f"play:think. {TABLE}"
        await write(agent.board, plate, text)
        await agent.board.plate(status="running")
        await agent.was_asked(text)
        await session.kill(plate)
        agent.gate.set()
    await is_known_once_when_resumed(agent, background, plate, text)


async def test_a_turn_of_codex_gets_it_without_its_terminal(home: Home, data_board: Board):
    """Its app server has the session, and outlives the terminal."""
    async with agent_on(data_board, home, "codex") as agent, agent.working("play:run") as session:
        plate = await session.uses_a_tool()
        await write(agent.board, plate, TABLE)
        await left_or_taken(agent.board, plate, TABLE)
        Codex.process(session.terminal).kill()
        await session.terminal.ends()
        session.finish_tool()
        await receipt(agent.board, plate, TABLE, "seen")
        assert await judge(agent, plate, TABLE) == "seen"
