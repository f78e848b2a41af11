"""Start, stop and resume agents, in process and over HTTP: a small program instead of a client."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
from tests.servers import TOKEN, serving
from tests.terminals import OwnTerminals, is_gone

from callboard import Callboard, Client
from callboard.board.hosts import local_host
from callboard.board.protocol import Board
from callboard.errors import CallboardError, ConflictError, NotFound, ValidationError
from callboard.systems.processes import started_at

SCRIPT = """#!/bin/sh
exec sleep 600
"""


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnTerminals]:
    made = OwnTerminals.made_in(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(made.folder))
    monkeypatch.setenv("PATH", f"{made.program('codex', SCRIPT)}:{os.environ['PATH']}")
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(made.folder)


@pytest.fixture(params=["in process", "over HTTP"])
async def board(
    request: pytest.FixtureRequest, tmp_path: Path, terminals: OwnTerminals
) -> AsyncIterator[Board]:
    if request.param == "in process":
        async with Callboard.open(tmp_path / "t.db") as opened:
            yield opened
        return
    env = {"XDG_DATA_HOME": str(terminals.folder), "PATH": os.environ["PATH"]}
    async with serving(tmp_path / "t.db", env=env) as server, Client(server.url, TOKEN) as client:
        yield client


async def test_an_agent_is_started_and_stopped(
    board: Board, terminals: OwnTerminals, tmp_path: Path
):
    started = await board.starting.start("codex", folder=str(tmp_path), prompt="--look around")
    assert (started.plate.agent, started.plate.status) == ("codex", "starting")
    assert "callboard hooks install codex" in (started.warning or "")
    (own,) = terminals.records
    assert (own.pid, own.agent, own.folder) == (started.plate.pid, "codex", str(tmp_path))
    by_name = await board.starting.start("codex", folder=str(tmp_path), host=local_host().name)
    assert by_name.plate.host == started.plate.host
    await board.starting.stop(by_name.plate.plate_id)
    assert "CALLBOARD_TOKEN" not in psutil.Process(own.pid).environ()

    stopped = await board.starting.stop(started.plate.plate_id)
    assert stopped.plate_id == started.plate.plate_id
    async with asyncio.timeout(20):
        while not is_gone(own.pid) or terminals.records:
            await asyncio.sleep(0.05)
    with pytest.raises((NotFound, ConflictError)):
        await board.starting.stop(started.plate.plate_id)


async def test_a_session_from_before_it_was_on_the_board_is_resumed(
    board: Board, terminals: OwnTerminals, tmp_path: Path
):
    started = await board.starting.start("codex", folder=str(tmp_path), resume="0199-a")
    assert started.plate.session_id == "0199-a"
    with pytest.raises(ConflictError, match="still running"):
        await board.starting.start("", folder="", resume="0199-a")
    with pytest.raises(ConflictError, match="still running"):
        await board.starting.start("", folder="", resume=started.plate.plate_id)


async def test_an_agent_that_another_one_runs_is_not_stopped_with_it(
    board: Board, terminals: OwnTerminals, tmp_path: Path
):
    child = terminals.folder / "child"
    terminals.program(
        "codex", f"#!/bin/sh\nsleep 600 &\necho $! > {child}.part\nmv {child}.part {child}\nwait\n"
    )
    outer = await board.starting.start("codex", folder=str(tmp_path))
    async with asyncio.timeout(20):
        while not child.exists():
            await asyncio.sleep(0.02)
    pid = int(child.read_text())
    start = started_at(pid)
    inner = await board.plates.register("claude", project_path="/p", pid=pid, proc_start=start)
    with pytest.raises(ConflictError, match="Another agent runs this one"):
        await board.starting.stop(inner.plate_id)
    assert terminals.records
    await board.starting.stop(outer.plate.plate_id)


async def test_a_session_that_is_resumed_twice_at_once_runs_once(
    board: Board, terminals: OwnTerminals, tmp_path: Path
):
    start = board.starting.start
    tries = [start("codex", folder=str(tmp_path), resume="0199-b") for _ in range(4)]
    found = await asyncio.gather(*tries, return_exceptions=True)
    refused = [one for one in found if isinstance(one, ConflictError)]
    assert (len(terminals.records), len(refused)) == (1, 3)
    assert all("still running" in one.message for one in refused)


async def test_what_cannot_be_started_is_refused(board: Board, tmp_path: Path):
    start = board.starting.start
    for agent in ("another", ""):
        with pytest.raises(ValidationError) as raised:
            await start(agent, folder=str(tmp_path))
        assert raised.value.context["field"] == "agent"
    with pytest.raises(ValidationError, match="does not exist"):
        await start("codex", folder=str(tmp_path / "none"))
    with pytest.raises(CallboardError, match=r"characters|surrogates"):
        await start("codex", folder=str(tmp_path), prompt="half \ud800 a character")
    with pytest.raises(NotFound, match="no plate and no session"):
        await start("", folder="", resume="nothing")
    with pytest.raises(NotFound):
        await board.starting.stop("gone")
    with subprocess.Popen(["sleep", "600"]) as other:
        plate = await board.plates.register("claude", project_path="/p", pid=other.pid)
        with pytest.raises(NotFound, match="doesn't run in a terminal of Callboard"):
            await board.starting.stop(plate.plate_id)
        assert other.poll() is None
        other.kill()
