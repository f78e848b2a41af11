"""opencode and Gemini CLI over ACP: started by a person, asked, written to and stopped."""

import json
from collections.abc import AsyncGenerator, Iterator

import pytest
from tests.acp_sessions import Acp, Wire, acp_board
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home, installed
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.opencode import OFFLINE, Opencode
from tests.real_clients.script import Call, Say, Script


@pytest.fixture
async def opencode(home: Home) -> AsyncGenerator[Acp]:
    path = str(home.project / "a.txt")
    scripts: dict[str, Script] = {
        "ask": [
            [Call("bash", {"command": "touch hello; echo out", "description": "Touch it"})],
            [Call("write", {"filePath": path, "content": "one\ntwo\n"})],
            [Say("Done it.")],
        ],
        "say": [[Say("Hello again.")]],
    }
    with Model(Messages(), scripts) as model:
        Opencode(home, model).prepare()
        file = home.folder / ".config" / "opencode" / "opencode.json"
        config = json.loads(file.read_text(encoding="utf-8"))
        asks = {"permission": {"bash": "ask", "edit": "ask"}}
        file.write_text(json.dumps(config | asks), encoding="utf-8")
        async with acp_board(home, OFFLINE) as acp:
            yield acp


@pytest.fixture
def gemini_model() -> Iterator[Model]:
    with Model(Contents()) as playing:
        yield playing


@pytest.fixture
async def gemini(home: Home, gemini_model: Model) -> AsyncGenerator[Acp]:
    path = str(home.project / "a.txt")
    gemini_model.scripts |= {
        "ask": [
            [Call("run_shell_command", {"command": "touch hello", "description": "Touch it"})],
            [Call("write_file", {"file_path": path, "content": "one\ntwo\n"})],
            [Say("Done it.")],
        ],
        "say": [[Say("Hello again.")]],
    }
    client = Gemini(home, gemini_model)
    client.prepare()
    # As it is for a person who has only set the key: the agent has to be signed in.
    settings = home.folder / ".gemini" / "settings.json"
    known = json.loads(settings.read_text(encoding="utf-8"))
    del known["security"]["auth"]
    settings.write_text(json.dumps(known), encoding="utf-8")
    async with acp_board(home, client.env) as acp:
        yield acp


async def allow(acp: Acp, prompt: str) -> Wire:
    """Answer the open question with yes, and wait until the agent has the answer."""
    question = await acp.board.asked("permission")
    assert prompt in question["prompt"]
    await acp.board.answer(question["id"], "yes")
    settled = await acp.board.settled(question["id"])
    assert (settled["status"], settled["receipt"]) == ("completed", "delivered")
    return question


async def check_main_path(acp: Acp, *command: str) -> None:
    plate = await acp.start(*command, prompt="Go. play:ask")
    await allow(acp, "touch hello")
    await allow(acp, "a.txt")
    items = await acp.shown(plate, "Done it.")
    tools = {one["tool"]["name"]: one["tool"] for one in items if one["kind"] == "tool"}
    assert tools["Bash"]["status"] == tools["Edit"]["status"] == "done"
    assert "+two" in tools["Edit"]["edits"][0]["diff"]
    assert (acp.home.project / "hello").exists()
    assert (acp.home.project / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    said = await acp.say(plate, "And now? play:say")
    await acp.shown(plate, "Hello again.")
    seen = await acp.message(plate, id=said["id"], status="seen")
    assert (seen["way"], seen["authority"]) == ("prompt", True)


async def test_opencode(opencode: Acp):
    await check_main_path(opencode, installed("opencode"), "acp")


async def test_gemini(gemini: Acp):
    await check_main_path(gemini, installed("gemini"), "--acp", "--model=gemini-2.5-flash")
