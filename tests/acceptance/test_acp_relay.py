"""An agent that speaks ACP on another machine, whose relay reports it to the board."""

from pathlib import Path

import pytest
from tests.acp_sessions import SCRIPTED, Acp
from tests.real_clients.board import Board
from tests.real_clients.home import Home
from tests.relays import RelayProcess
from tests.servers import TOKEN, serving


@pytest.mark.long
async def test_it_is_read_asked_written_to_and_stopped_through_its_relay(tmp_path: Path):
    there, here = Home.made_in(tmp_path / "there"), Home.made_in(tmp_path / "here")
    async with serving(there.database, env={"HOME": str(there.folder)}) as server:
        relay = RelayProcess(here.folder / "data", "ada-mac")
        try:
            await relay.pair(server, "", "--allow", "say,start")
            env = {"XDG_DATA_HOME": str(relay.home), "CALLBOARD_TOKEN": TOKEN}
            acp = Acp(here, Board(server), env)
            plate = await acp.start(
                *SCRIPTED, prompt="say Before.\nrun make", options=["--server", server.url]
            )
            assert plate["hostName"] == "ada-mac"
            question = await acp.board.asked("permission")
            await relay.kill()
            await relay.start()
            await acp.board.answer(question["id"], "yes")
            assert (await acp.board.settled(question["id"]))["receipt"] == "delivered"
            await acp.board.plate(plateId=plate["plateId"], status="idle")
            said = await acp.say(plate, "say Again.\nrun other")
            other = await acp.board.asked("permission")
            await acp.message(plate, id=said["id"], status="seen")
            assert (await acp.post(plate, "interrupt"))["wasInterrupted"] is True
            assert (await acp.board.closed(other["id"]))["status"] == "cancelled"
            texts = [one["text"] for one in await acp.items(plate) if one["kind"] == "reply"]
            assert texts[:3] == ["Before. ", "The answer was yes-once. ", "Again. "]
            await acp.board.plate(plateId=plate["plateId"], status="idle")
            await acp.post(plate, "stop")
            await acp.board.plate(plateId=plate["plateId"], status="closed", ended="stopped")
        finally:
            await relay.stop()
