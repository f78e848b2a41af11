"""A turn of the real opencode is interrupted. Messages to it are in `test_steering_matrix`."""

import json
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until
from tests.real_clients.script import Hold, Say, Script

from callboard.vendors.steering import Recipient, Steering
from callboard.vendors.steering_table import steering_of


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
async def opencode(home: Home, gate: threading.Event) -> AsyncGenerator[Opencode]:
    scripts: dict[str, Script] = {
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


@pytest.mark.long
async def test_a_turn_is_interrupted(opencode: Opencode, ways: Steering):
    with opencode.terminal("--prompt", "play:think") as terminal:
        recipient = await recipient_in(opencode.home)
        await terminal.shows("esc interrupt")
        assert (await ways.interrupt(recipient)).told
        await terminal.shows("interrupted")
