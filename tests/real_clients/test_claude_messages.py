"""Messages from the board to the real Claude Code, from the composer to the model and back.

What happens if either side is killed is in `test_messages_and_crashes`.
"""

import threading

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import PROCEED, Claude
from tests.real_clients.model import Model
from tests.real_clients.script import Call, Say
from tests.real_clients.steered import listed, receipt, write


async def test_an_idle_session_is_woken(claude: Claude, model: Model, board: Board):
    model.scripts |= {"say": scenes.SAY}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        plate = await board.plate(status="idle")
        await write(board, plate, "play:say\nUse the other table.")
        found = await receipt(board, plate, "play:say\nUse the other table.", "seen")
        assert (found["way"], found["authority"], found["attempt"]) == ("inbox", False, 1)
        await terminal.shows("Nothing to do.")
        await board.plate(status="idle", lastEvent="stop")
    told = await board.told(plate)
    assert [told.count(f"message_{one}") for one in ("handed", "delivered", "seen")] == [1, 1, 1]
    assert model.was_told("Use the other table.")


async def test_three_are_queued_and_one_is_withdrawn(claude: Claude, model: Model, board: Board):
    gate = threading.Event()
    model.scripts |= {"slow": scenes.slow(gate)}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:slow")
        plate = await board.plate(status="running")
        first, second, third = [
            await write(board, plate, text, when="after_turn")
            for text in ("One.", "Two.", "Three.")
        ]
        async with board.server.client() as client:
            path = f"/plates/{plate['plateId']}/messages"
            assert (await client.delete(f"{path}/{second['id']}")).status_code == 200
            moved = await client.patch(f"{path}/{third['id']}", json={"before": first["id"]})
            assert moved.status_code == 200
        assert [one["status"] for one in await listed(board, plate)] == [
            "withdrawn", "queued", "queued",
        ]  # fmt: skip
        gate.set()
        await receipt(board, plate, "One.", "seen")
        await receipt(board, plate, "Three.", "seen")
        async with board.server.client() as client:
            late = await client.delete(f"{path}/{first['id']}")
        assert late.status_code == 409
    assert not model.was_told("Two.")
    events = await board.events(plate)
    handed = [one["payload"]["id"] for one in events if one["name"] == "message_handed"]
    assert handed == [third["id"], first["id"]]


@pytest.mark.long
async def test_while_it_thinks(claude: Claude, model: Model, board: Board):
    gate = threading.Event()
    model.scripts |= {"slow": scenes.slow(gate)}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:slow")
        plate = await board.plate(status="running")
        await write(board, plate, "Be brief.")
        await receipt(board, plate, "Be brief.", "handed", "delivered")
        gate.set()
        await receipt(board, plate, "Be brief.", "seen")
    assert model.was_told("Be brief.")


@pytest.mark.long
async def test_while_a_tool_runs(claude: Claude, model: Model, board: Board):
    goes_on = claude.home.project / "goes-on"
    wait = f"until test -e {goes_on}; do sleep 0.1; done"
    call = Call("Bash", {"command": wait, "description": "Wait"})
    model.scripts |= {"wait": [[call], [Say("It is there.")]]}
    with claude.terminal("--allowedTools", "Bash") as terminal:
        await terminal.is_ready()
        await terminal.type("play:wait")
        plate = await board.plate(lastEvent="tool_start")
        await write(board, plate, "Use the other table.")
        await write(board, plate, "Commit.", when="after_turn")
        await receipt(board, plate, "Use the other table.", "handed", "delivered")
        goes_on.touch()
        await receipt(board, plate, "Use the other table.", "seen")
        await receipt(board, plate, "Commit.", "seen")
    events = await board.events(plate)
    names = [one["name"] for one in events]
    handed = [place for place, name in enumerate(names) if name == "message_handed"]
    assert handed[0] < names.index("stop") < handed[1]


@pytest.mark.long
async def test_a_session_that_bypasses_permissions_asks_first(
    claude: Claude, model: Model, board: Board
):
    model.scripts |= {"say": scenes.SAY}
    with claude.terminal("--permission-mode", "bypassPermissions") as terminal:
        await terminal.shows("❯")
        plate = await board.plate(status="idle")
        await write(board, plate, "play:say Denied.")
        found = await receipt(board, plate, "play:say Denied.", "held")
        assert found["note"]
        await terminal.leaves("❯ Deny", "Enter")  # It suggests to deny it.
        found = await receipt(board, plate, "play:say Denied.", "lost")
        assert found["note"] == "The person at the terminal refused it."
        await write(board, plate, "play:say Accepted.")
        await receipt(board, plate, "play:say Accepted.", "held")
        await terminal.choose("❯ Deny", "❯ Deliver this message")
        found = await receipt(board, plate, "play:say Accepted.", "seen")
        assert found["attempt"] == 1
        await terminal.shows("Nothing to do.")
    assert model.was_told("Accepted.")
    assert not model.was_told("Denied.")


@pytest.mark.long
async def test_while_a_permission_waits(claude: Claude, model: Model, board: Board):
    model.scripts |= {"make": scenes.TOUCH}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:make")
        asked = await board.asked("permission")
        plate = await board.plate(status="awaiting_approval")
        await write(board, plate, "Yes.")
        await terminal.shows(PROCEED)
        assert [one["status"] for one in await listed(board, plate)] == ["queued"]
        await board.answer(asked["id"], "no")
        await board.settled(asked["id"])
        await receipt(board, plate, "Yes.", "seen")
    assert not (claude.home.project / "made").exists()
