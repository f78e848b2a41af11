"""Codex, Gemini CLI and opencode in the background: started, attached to, stopped and resumed."""

import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from tests.real_clients.background import Background, background_in
from tests.real_clients.board import Board, Wire
from tests.real_clients.codex import TRUST, Codex
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until
from tests.real_clients.responses import Responses
from tests.real_clients.script import Say, Script

GREETS: Script = [[Say("Hello there.")]]
GREETS_AGAIN: Script = [[Say("Here I am again.")]]


@asynccontextmanager
async def codex_in(home: Home) -> AsyncGenerator[Background]:
    with Model(Responses(), {"greet": GREETS, "again": GREETS_AGAIN}) as model:
        codex = Codex(home, model)
        codex.prepare()
        await home.install_hooks("codex")
        async with codex.app_server():
            with background_in(home, codex.env) as background:
                yield background


@asynccontextmanager
async def gemini_in(home: Home) -> AsyncGenerator[Background]:
    with Model(Contents(), {"greet": GREETS, "again": GREETS_AGAIN}) as model:
        gemini = Gemini(home, model)
        gemini.prepare()
        await home.install_hooks("gemini")
        with background_in(home, gemini.env) as background:
            yield background


@asynccontextmanager
async def opencode_in(home: Home) -> AsyncGenerator[Background]:
    with Model(Messages(), {"greet": GREETS, "again": GREETS_AGAIN}) as model:
        opencode = Opencode(home, model)
        opencode.prepare()
        await home.install_hooks("opencode")
        with background_in(home, opencode.env) as background:
            yield background


async def started(background: Background, board: Board, agent: str, trust: str = "") -> Wire:
    """Start one, look at it and leave it. trust: what it asks for in its first terminal."""
    plate = await background.start(agent, "play:greet")
    with background.attach(plate) as terminal:
        if trust:
            await terminal.leaves(trust, "2", "Enter")
        await terminal.shows("Hello there.")
        await background.leave(terminal)
    return await board.plate(plateId=plate["plateId"], status="idle")


async def stopped(background: Background, board: Board, plate: Wire) -> None:
    """Stop it; nothing of it is left."""
    (pid,) = (one["pid"] for one in background.records())
    assert (await background.run("stop", plate["plateId"])).code == 0
    await board.plate(plateId=plate["plateId"], status="closed")
    await until(lambda: background.records() == [], "the end of the process that kept it")
    assert background.is_gone(pid)


AGENTS = pytest.mark.parametrize(
    ("agent", "made", "trust"),
    [("codex", codex_in, TRUST), ("gemini", gemini_in, ""), ("opencode", opencode_in, "")],
    ids=("codex", "gemini", "opencode"),
)
Made = Callable[[Home], AbstractAsyncContextManager[Background]]


@AGENTS
async def test_one_is_started_attached_to_left_and_stopped(
    home: Home, data_board: Board, agent: str, made: Made, trust: str
):
    async with made(home) as background:
        plate = await started(background, data_board, agent, trust)
        await stopped(background, data_board, plate)
    assert len(await data_board.plates()) == 1


@pytest.mark.long
@AGENTS
async def test_an_ended_one_is_resumed_by_its_own_id(
    home: Home, data_board: Board, agent: str, made: Made, trust: str
):
    async with made(home) as background:
        plate = await started(background, data_board, agent, trust)
        await stopped(background, data_board, plate)
        again = await background.start("--resume", plate["sessionId"], "play:again")
        assert (again["plateId"], again["agent"]) == (plate["plateId"], agent)
        with background.attach(again) as terminal:
            await terminal.shows("Hello there.", "Here I am again.")
            await background.leave(terminal)
        found = await data_board.plate(plateId=plate["plateId"], status="idle")
        assert found["sessionId"] == plate["sessionId"]
        await stopped(background, data_board, plate)
    assert len(await data_board.plates()) == 1


@pytest.mark.long
@AGENTS
async def test_nothing_of_one_outlives_the_process_that_keeps_its_terminal(
    home: Home, data_board: Board, agent: str, made: Made, trust: str
):
    async with made(home) as background:
        plate = await started(background, data_board, agent, trust)
        (record,) = background.records()
        pids = [record["pid"], *background.children_of(record["pid"])]
        os.kill(record["host_pid"], signal.SIGKILL)
        closed = await data_board.plate(plateId=plate["plateId"], status="closed")
        # Gemini CLI says goodbye when its terminal hangs up.
        assert closed["ended"] in ("process_exit", "exit")
        await until(lambda: all(map(background.is_gone, pids)), f"the end of {pids}")
        again = await background.run("attach", plate["plateId"])
        assert again.code != 0
