"""opencode and Gemini CLI over ACP: started by a person, asked, written to and stopped."""

import asyncio
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
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Say, Script

WAITS = "touch started; until [ -e open ]; do sleep 0.1; done"


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
        "run": [[Call("bash", {"command": WAITS, "description": "Wait"})], [Say("It ran.")]],
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
        "run": [
            [Call("run_shell_command", {"command": WAITS, "description": "Wait"})],
            [Say("It ran.")],
        ],
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


async def run_until_opened(acp: Acp, *command: str) -> Wire:
    """An agent in the middle of a turn, while a tool of it runs."""
    plate = await acp.start(*command, prompt="Run it. play:run")
    await allow(acp, "touch started")
    await until((acp.home.project / "started").exists, "the tool at work")
    return plate


@pytest.mark.long
async def test_a_message_to_gemini_waits_for_the_end_of_the_turn(gemini: Acp):
    """A second prompt would cancel the first, and the tool with it."""
    plate = await run_until_opened(gemini, installed("gemini"), "--acp", "--model=gemini-2.5-flash")
    said = await gemini.say(plate, "And now? play:say")
    await asyncio.sleep(1)
    (queued,) = await gemini.messages(plate)
    assert queued["status"] == "queued"
    (gemini.home.project / "open").touch()
    await gemini.message(plate, id=said["id"], status="seen")
    items = await gemini.shown(plate, "Hello again.")
    replies = [one["text"] for one in items if one["kind"] == "reply"]
    assert replies == ["It ran.", "Hello again."]


@pytest.mark.long
async def test_a_message_to_opencode_is_taken_in_the_turn(opencode: Acp):
    plate = await run_until_opened(opencode, installed("opencode"), "acp")
    said = await opencode.say(plate, "Use the other table")
    handed = await opencode.message(plate, id=said["id"], status="handed")
    assert handed["way"] == "prompt"
    (opencode.home.project / "open").touch()
    await opencode.message(plate, id=said["id"], status="seen")
    await opencode.board.plate(plateId=plate["plateId"], status="idle")


async def check_interrupt(acp: Acp, *command: str) -> None:
    plate = await run_until_opened(acp, *command)
    assert (await acp.post(plate, "interrupt"))["wasInterrupted"] is True
    await acp.board.plate(plateId=plate["plateId"], status="idle", interrupted=True)
    await acp.shown(plate, "Interrupted")
    await acp.say(plate, "And now? play:say")
    await acp.shown(plate, "Hello again.")


@pytest.mark.long
async def test_a_turn_of_opencode_is_interrupted(opencode: Acp):
    await check_interrupt(opencode, installed("opencode"), "acp")


@pytest.mark.long
async def test_a_turn_of_gemini_is_interrupted(gemini: Acp):
    await check_interrupt(gemini, installed("gemini"), "--acp", "--model=gemini-2.5-flash")


async def check_one_plate(acp: Acp, name: str, *options: str) -> None:
    """Hooks report the same session, and would make another plate of it."""
    await acp.home.install_hooks(name)
    plate = await acp.start(installed(name), *options, prompt="Go. play:say")
    await acp.shown(plate, "Hello again.")
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    assert [one["plateId"] for one in await acp.board.plates()] == [plate["plateId"]]
    replies = [one for one in await acp.items(plate) if one["kind"] == "reply"]
    assert len(replies) == 1


@pytest.mark.long
async def test_opencode_with_our_plugin_has_one_plate(opencode: Acp):
    await check_one_plate(opencode, "opencode", "acp")


@pytest.mark.long
async def test_gemini_with_our_hooks_has_one_plate(gemini: Acp):
    await check_one_plate(gemini, "gemini", "--acp", "--model=gemini-2.5-flash")
