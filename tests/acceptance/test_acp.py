"""Agents that speak ACP, from `callboard start acp` to their end, with an agent of our own."""

from collections.abc import AsyncGenerator

import pytest
from tests.acp_sessions import SCRIPTED, Acp, acp_board
from tests.real_clients.home import Home


@pytest.fixture
async def acp(tmp_path) -> AsyncGenerator[Acp]:
    async with acp_board(Home.made_in(tmp_path)) as acp:
        yield acp


async def test_an_agent_is_started_read_asked_and_stopped(acp: Acp):
    plate = await acp.start(*SCRIPTED, prompt="think Hmm.\nsay Hello there.\nrun make test")
    question = await acp.board.asked("permission")
    assert question["prompt"] == "Run: make test"
    await acp.board.plate(plateId=plate["plateId"], status="awaiting_approval", model="scripted-1")
    await acp.board.answer(question["id"], "yes")
    settled = await acp.board.settled(question["id"])
    assert (settled["status"], settled["receipt"]) == ("completed", "delivered")
    items = await acp.shown(plate, "The answer was yes-once.")
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    kinds = [(one["kind"], one["text"].strip()) for one in items]
    assert kinds[2:4] == [("thinking", "Hmm."), ("reply", "Hello there.")]
    (tool,) = [one["tool"] for one in items if one["kind"] == "tool"]
    assert (tool["command"], tool["status"]) == ("make test", "done")
    assert tool["result"] == "ran: make test\n"
    assert (await acp.run("stop", plate["plateId"])).code == 0
    await acp.board.plate(plateId=plate["plateId"], status="closed")
