"""Messages to the real opencode, as people at the board send them."""

import json
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until, until_told
from tests.real_clients.script import Call, Hold, Say, Script

from callboard.vendors.steering import Outgoing, Recipient, Sighting, Steering
from callboard.vendors.steering_table import steering_of

WAITS = {"command": "touch started; until [ -e open ]; do sleep 0.1; done", "description": "Wait"}


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
async def opencode(home: Home, gate: threading.Event) -> AsyncGenerator[Opencode]:
    scripts: dict[str, Script] = {
        "greet": [[Say("Hello.")]],
        "again": [[Say("Hello again.")]],
        "run": [[Call("bash", WAITS)], [Say("It ran.")]],
        "think": [[Hold(gate), Say("That took a while.")]],
    }
    with Model(Messages(), scripts) as model:
        client = Opencode(home, model)
        client.prepare()
        await home.install_hooks("opencode")
        yield client
        gate.set()


@pytest.fixture
def ways(home: Home) -> Steering:
    """How its machine steers it."""
    found = steering_of("opencode", home.database.with_name("callboard.db.hooks"))
    assert found is not None
    return found


async def recipient_in(home: Home) -> Recipient:
    """The session, once it has reported something."""
    spool = home.database.with_name("callboard.db.hooks") / "spool"

    def look() -> Recipient | None:
        for file in sorted(spool.glob("opencode.*.json")):
            told = json.loads(file.read_text("utf-8"))
            session = told["properties"].get("sessionID")
            if session and "parent" not in told:
                facts = told["callboard"]
                folder = str(home.project)
                return Recipient("opencode", session, folder, facts["pid"], facts.get("proc_start"))
        return None

    found = await until(look, "a report")
    assert found is not None
    return found


async def seen(ways: Steering, recipient: Recipient, message: Outgoing) -> Sighting:
    """Wait until the model was given it."""

    async def look() -> Sighting | None:
        found = await ways.look(recipient, message)
        return found if found.status == "seen" else None

    return await until_told(look, lambda: f"message {message.id} seen")


async def test_a_message_wakes_a_session(opencode: Opencode, ways: Steering):
    with opencode.terminal("--prompt", "play:greet") as terminal:
        await terminal.shows("Hello.")
        recipient = await recipient_in(opencode.home)
        reach = await ways.reach(recipient)
        assert (reach.way, reach.authority) == ("plugin", True)
        message = Outgoing("m1", "play:again, please", "now")
        said = await ways.say(recipient, message)
        assert (said.result, said.way) == ("accepted", "plugin")
        screen = await terminal.shows("play:again, please", "Hello again.")
        assert screen.count("play:again, please") == 1
        assert (await seen(ways, recipient, message)).at_ms is not None


@pytest.mark.long
async def test_a_message_reaches_a_turn_in_which_a_tool_runs(opencode: Opencode, ways: Steering):
    with opencode.terminal("--prompt", "play:run") as terminal:
        await until((opencode.home.project / "started").exists, "the tool at work")
        recipient = await recipient_in(opencode.home)
        message = Outgoing("m1", "Use the other table", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        assert (await ways.look(recipient, message)).status == "delivered"
        (opencode.home.project / "open").touch()
        await seen(ways, recipient, message)
        await terminal.shows("It ran.")
    assert opencode.model.was_told("Use the other table")


@pytest.mark.long
async def test_a_turn_is_interrupted(opencode: Opencode, ways: Steering):
    with opencode.terminal("--prompt", "play:think") as terminal:
        recipient = await recipient_in(opencode.home)
        await terminal.shows("esc interrupt")
        assert (await ways.interrupt(recipient)).told
        await terminal.shows("interrupted")
