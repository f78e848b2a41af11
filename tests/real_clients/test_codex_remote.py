"""The real Codex on another machine, started and stopped through its relay."""

from pathlib import Path

import pytest
from tests.real_clients.background import Background, background_in
from tests.real_clients.board import Board
from tests.real_clients.codex import TRUST, Codex
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.responses import Responses
from tests.real_clients.script import Say
from tests.relays import RelayProcess, relaying_as
from tests.servers import serving

pytestmark = pytest.mark.long


async def check(board: Board, background: Background, folder: Path) -> None:
    (host,) = (await board.get("/hosts"))["hosts"]
    given = {"agent": "codex", "folder": str(folder), "host": host["id"], "prompt": "play:greet"}
    async with board.server.client() as client:
        told = await client.post("/plates/start", json=given, timeout=60)
        plate = told.raise_for_status().json()["plate"]
        assert plate["status"] == "starting"
        here = {"plateId": plate["plateId"]}
        await background.types("2", after=TRUST)
        await background.types("\r", after=TRUST)
        await board.plate(status="idle", **here)
        assert (await client.post(f"/plates/{plate['plateId']}/stop", json={})).is_success
    await board.plate(status="closed", **here)
    assert len(await board.plates()) == 1


async def test_it_has_one_plate_although_terminals_share_an_app_server(tmp_path: Path, home: Home):
    there = Home.made_in(tmp_path / "there")
    async with serving(there.database, env={"HOME": str(there.folder)}) as server:
        with Model(Responses(), {"greet": [[Say("Hello there.")]]}) as model:
            codex = Codex(home, model)
            codex.prepare()
            async with codex.app_server():
                with background_in(home, codex.env) as made:
                    share = home.folder / ".local" / "share"
                    relay = RelayProcess(share, "ada-mac", environment=made.env)
                    async with relaying_as(relay, server, "", "--allow", "start"):
                        await home.install_hooks("codex", f"--server={server.url}")
                        await check(Board(server), made, home.project)
