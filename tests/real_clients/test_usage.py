"""The tokens of sessions of the real clients, as their own transcripts have them."""

from typing import Any

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.codex import Codex
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until_told
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Say
from tests.servers import serving

SAID = [Say("I said hello.")]
INPUT, OUTPUT = 10, 5
"""What each call of the scripted model takes."""


async def used(board: Board, agent: str, calls: int) -> dict[str, Any]:
    """What an agent has used, as soon as so many calls are counted."""
    seen: list[Any] = []

    async def look() -> dict[str, Any] | None:
        seen[:] = (await board.get("/usage?by=agent"))["rows"]
        sums = [one["used"] for one in seen if one["key"] == agent]
        return next((one for one in sums if one["calls"] >= calls), None)

    return await until_told(look, lambda: f"{calls} calls of {agent}; there are {seen}")


async def test_claude(claude: Claude, model: Model, board: Board):
    model.scripts["greet"] = scenes.ECHO
    await claude.run("play:greet")
    told = await used(board, "claude", 2)
    assert (told["calls"], told["inputTokens"], told["outputTokens"]) == (2, 2 * INPUT, 2 * OUTPUT)


@pytest.mark.parametrize(
    ("name", "agent", "dialect", "call"),
    [
        ("codex", Codex, Responses, Call("exec_command", {"cmd": "echo hello"})),
        pytest.param(
            "gemini",
            Gemini,
            Contents,
            Call("run_shell_command", {"command": "echo hello", "description": "Greet"}),
            marks=pytest.mark.long,
        ),
    ],
)
async def test_others(home: Home, board: Board, name: str, agent: Any, dialect: Any, call: Call):
    await greet(home, board, name, agent, Model(dialect(), {"greet": [[call], SAID]}))


@pytest.mark.long
async def test_opencode(home: Home):
    call = Call("bash", {"command": "echo hello", "description": "Greet"})
    # Its database is in the home of who runs it.
    env = {**home.env, "XDG_DATA_HOME": str(home.folder / ".local" / "share")}
    async with serving(home.database, env=env) as server:
        model = Model(Messages(), {"greet": [[call], SAID]})
        await greet(home, Board(server), "opencode", Opencode, model)


async def greet(home: Home, board: Board, name: str, agent: Any, model: Model) -> None:
    """A session of two calls is counted."""
    with model:
        client = agent(home, model)
        client.prepare()
        await home.install_hooks(name)
        done = await client.run("play:greet")
        assert done.code == 0, done
    told = await used(board, name, 2)
    assert (told["calls"], told["inputTokens"], told["outputTokens"]) == (2, 2 * INPUT, 2 * OUTPUT)
