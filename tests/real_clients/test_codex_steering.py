"""Messages to the real Codex, as people at the board send them."""

import json
import threading
from collections.abc import AsyncGenerator

import pytest
from tests.real_clients.codex import Codex
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until, until_told
from tests.real_clients.responses import Responses
from tests.real_clients.script import Call, Hold, Say, Script
from tests.real_clients.terminal import Terminal

from callboard.vendors.steering import Outgoing, Recipient, Sighting, Steering
from callboard.vendors.steering_table import steering_of

WAITS = "touch started; until [ -e open ]; do sleep 0.1; done"
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "Wait"}
ASKS = "Would you like to run"


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


@pytest.fixture
async def codex(
    home: Home, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Codex]:
    monkeypatch.setenv("CODEX_HOME", str(home.folder / ".codex"))
    scripts: dict[str, Script] = {
        "greet": [[Say("Hello.")]],
        "again": [[Say("Hello again.")]],
        "run": [[Call("exec_command", {"cmd": WAITS})], [Say("It ran.")]],
        "ask": [[Call("exec_command", {"cmd": "touch made", **ESCALATED})], [Say("Made.")]],
        "think": [[Hold(gate), Say("That took a while.")]],
    }
    with Model(Responses(), scripts) as model:
        client = Codex(home, model)
        client.prepare()
        async with client.app_server():
            yield client
        gate.set()


@pytest.fixture
def ways(home: Home) -> Steering:
    """How its machine steers it."""
    found = steering_of("codex", home.database.with_name("callboard.db.hooks"))
    assert found is not None
    return found


async def recipient_in(codex: Codex, terminal: Terminal) -> Recipient:
    """The session in a terminal, once it has recorded something."""
    await terminal.shows("›")
    records = codex.home.folder / ".codex" / "sessions"

    async def look() -> str:
        for file in records.rglob("rollout-*.jsonl"):
            first, line_break, _ = file.read_text("utf-8").partition("\n")
            if line_break:
                return json.loads(first)["payload"]["id"]
        return ""

    session = await until_told(look, lambda: "the record of a session")
    return Recipient("codex", session, str(codex.home.project))


async def sighted(ways: Steering, recipient: Recipient, message: Outgoing) -> Sighting:
    """Wait until something is known of a message."""

    async def look() -> Sighting | None:
        found = await ways.look(recipient, message)
        return found if found.status else None

    return await until_told(look, lambda: f"message {message.id} in the record")


async def test_a_message_wakes_a_session(codex: Codex, ways: Steering):
    with codex.terminal(codex.home.project, "play:greet") as terminal:
        await terminal.shows("Hello.")
        recipient = await recipient_in(codex, terminal)
        reach = await ways.reach(recipient)
        assert (reach.way, reach.authority) == ("app_server", True)
        terminal.press("-l", "a draft")
        await terminal.shows("a draft")
        message = Outgoing("m1", "play:again, please", "now")
        said = await ways.say(recipient, message)
        assert (said.result, said.way) == ("accepted", "app_server")
        await terminal.shows("play:again, please", "Hello again.", "a draft")
        found = await sighted(ways, recipient, message)
        assert found.status == "seen"
        assert found.at_ms is not None
        assert not (await ways.interrupt(recipient)).told


@pytest.mark.long
async def test_a_message_reaches_a_turn_in_which_a_tool_runs(codex: Codex, ways: Steering):
    with codex.terminal(codex.home.project, "play:run") as terminal:
        recipient = await recipient_in(codex, terminal)
        await until((codex.home.project / "started").exists, "the tool at work")
        later = Outgoing("m1", "Afterwards", "after_turn")
        assert (await ways.say(recipient, later)).result == "untouched"
        message = Outgoing("m2", "Use the other table", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        assert (await ways.look(recipient, message)).status is None
        (codex.home.project / "open").touch()
        assert (await sighted(ways, recipient, message)).status == "seen"
        await terminal.shows("It ran.")
    assert codex.model.was_told("Use the other table")


@pytest.mark.long
async def test_a_message_that_an_interrupt_drops_can_be_sent_again(codex: Codex, ways: Steering):
    with codex.terminal(codex.home.project, "play:run") as terminal:
        recipient = await recipient_in(codex, terminal)
        await until((codex.home.project / "started").exists, "the tool at work")
        message = Outgoing("m1", "play:again", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        assert (await ways.interrupt(recipient)).told
        assert (await sighted(ways, recipient, message)).status == "untouched"
        while True:  # A turn that is being interrupted may take it and drop it once more.
            assert (await ways.say(recipient, message)).result == "accepted"
            if (await sighted(ways, recipient, message)).status == "seen":
                break
        screen = await terminal.shows("Hello again.")
        assert screen.count("play:again") == 1


@pytest.mark.long
async def test_it_can_be_sent_again_by_a_server_that_started_since(
    codex: Codex, ways: Steering, home: Home
):
    with codex.terminal(codex.home.project, "play:run") as terminal:
        recipient = await recipient_in(codex, terminal)
        await until((codex.home.project / "started").exists, "the tool at work")
        message = Outgoing("m1", "play:again", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        other = steering_of("codex", home.database.with_name("callboard.db.hooks"))
        assert other is not None
        assert (await other.look(recipient, message)).status is None
        assert (await other.interrupt(recipient)).told
        assert (await sighted(other, recipient, message)).status == "untouched"


@pytest.mark.long
async def test_a_permission_is_not_answered_by_a_message(codex: Codex, ways: Steering):
    with codex.terminal(codex.home.project, "play:ask") as terminal:
        await terminal.shows(ASKS)
        recipient = await recipient_in(codex, terminal)
        assert "dialog" in ((await ways.reach(recipient)).note or "")
        message = Outgoing("m1", "Yes\n", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        assert (await ways.look(recipient, message)).status is None
        await terminal.shows(ASKS)
        assert not (codex.home.project / "made").exists()
        terminal.press("Enter")
        assert (await sighted(ways, recipient, message)).status == "seen"


@pytest.mark.long
async def test_a_message_waits_while_the_model_thinks(
    codex: Codex, ways: Steering, gate: threading.Event
):
    with codex.terminal(codex.home.project, "play:think") as terminal:
        recipient = await recipient_in(codex, terminal)
        await terminal.shows("esc to interrupt")
        message = Outgoing("m1", "play:again", "now")
        assert (await ways.say(recipient, message)).result == "accepted"
        gate.set()
        assert (await sighted(ways, recipient, message)).status == "seen"
        await terminal.shows("Hello again.")
