"""The real Codex, Gemini CLI and opencode: a session of each from start to end on the board."""

from collections.abc import Iterable
from itertools import groupby

import pytest
from tests.real_clients.board import Board, Wire
from tests.real_clients.codex import Codex
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Done, Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Dialect, Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Say
from tests.servers import serving

Agent = Codex | Gemini | Opencode

HELLO = "I said hello."
IN_ORDER = ["session_start", "prompt_submit", "tool_start", "tool_call", "stop"]


def playing(dialect: Dialect, call: Call) -> Model:
    return Model(dialect, {"greet": [[call], [Say(HELLO)]]})


async def installed(agent: Agent, name: str) -> Agent:
    agent.prepare()
    await agent.home.install_hooks(name)
    return agent


def in_order(told: Iterable[str]) -> list[str]:
    """What matters here; opencode says twice that it has begun to work."""
    return [name for name, _ in groupby(name for name in told if name in IN_ORDER)]


def said_hello(done: Done) -> bool:
    return done.code == 0 and HELLO in done.out


async def told_all(board: Board, agent: str) -> Wire:
    """The plate of an agent that has ended, when all of its reports have been read.

    A process that is gone closes its plate, even if its last reports are still in the spool.
    """
    plate = await board.plate(status="closed", agent=agent)
    await board.heard(plate, "stop")
    assert in_order(await board.told(plate)) == IN_ORDER
    return await board.plate(status="closed", agent=agent)


async def test_codex(home: Home, board: Board):
    call = Call("exec_command", {"cmd": "echo hello"})
    with playing(Responses(), call) as model:
        codex = await installed(Codex(home, model), "codex")
        assert said_hello(await codex.run("play:greet"))
    plate = await told_all(board, "codex")
    assert (plate["lastTool"], plate["lastMessage"]) == ("Bash", HELLO)
    assert plate["projectPath"] == str(home.project)


async def test_gemini(home: Home, board: Board):
    call = Call("run_shell_command", {"command": "echo hello", "description": "Greet"})
    with playing(Contents(), call) as model:
        gemini = await installed(Gemini(home, model), "gemini")
        assert said_hello(await gemini.run("play:greet"))
    plate = await told_all(board, "gemini")
    assert (plate["lastTool"], plate["lastMessage"]) == ("run_shell_command", HELLO)


@pytest.mark.long
async def test_esc_during_a_long_tool_of_gemini(home: Home, board: Board):
    wait = "touch made; python3 -c 'import time; time.sleep(60)'"
    call = Call("run_shell_command", {"command": wait, "description": "Wait"})
    with playing(Contents(), call) as model:
        gemini = Gemini(home, model)
        await installed(gemini, "gemini")
        with gemini.terminal() as terminal:
            await terminal.shows("Type your message", within=60)
            await terminal.type("play:greet")
            await until((home.project / "made").exists, "the tool at work", 60)
            await board.plate(status="running", agent="gemini")
            terminal.press("Escape")
            plate = await board.plate(status="idle", interrupted=True)
            told = await board.heard(plate, "turn_idle", interrupted=True)
            assert told["payload"]["seenIn"] == "transcript"
            # Its hook for the call that was ended comes after that, and changes nothing.
            await board.heard(plate, "tool_call")
            await board.plate(status="idle", interrupted=True)


async def test_opencode(home: Home, board: Board):
    call = Call("bash", {"command": "echo hello", "description": "Greet"})
    with playing(Messages(), call) as model:
        opencode = await installed(Opencode(home, model), "opencode")
        assert said_hello(await opencode.run("play:greet"))
    plate = await told_all(board, "opencode")
    assert plate["lastTool"] == "bash"


async def test_codex_does_not_notice_that_there_is_no_server(home: Home):
    call = Call("exec_command", {"cmd": "echo hello"})
    with playing(Responses(), call) as model:
        codex = await installed(Codex(home, model), "codex")
        assert said_hello(await codex.run("play:greet"))
    async with serving(home.database, env=home.env) as server:
        await told_all(Board(server), "codex")
