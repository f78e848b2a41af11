"""A hook that waits and finds no server tells the spool as well: that is one dialog, not two."""

import json
from typing import Any

import pytest
from tests.unit.board.boards import SESSION, Board

from callboard.board.intake import Listener
from callboard.board.late_hook import LateHook
from callboard.board.plate import Plate
from callboard.engine.inbox import Inbox
from callboard.relay.batches import HOOK, REGISTERED, SIGHTING, RelayItem
from callboard.server.relay_intake import RelayIntake, RelaySource


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def listener(board: Board) -> Listener:
    return Listener(board.plates, board.clock.now_ms)


def asked(board: Board, tool: str, command: str = "ls", **more: Any) -> bytes:
    payload = {
        "session_id": SESSION,
        "hook_event_name": "PermissionRequest",
        "tool_name": tool,
        "tool_input": {"command": command, "questions": [], "plan": "Do it"},
        "callboard": {"sent_at": board.clock.now_ms(), **more},
    }
    return json.dumps(payload).encode()


async def plate(board: Board) -> Plate:
    (found,) = await board.plates.all()
    return found


async def names(board: Board) -> list[str]:
    return [one.name for one in await board.events(await plate(board))]


async def hold(board: Board, listener: Listener, body: bytes) -> None:
    """A hook reaches the server and waits there."""
    report = await listener.read("claude", body)
    assert report is not None
    heard = await listener.hear(report)
    assert heard is not None
    assert heard.interaction_id == "h1"


@pytest.mark.parametrize("tool", ["Bash", "AskUserQuestion", "ExitPlanMode"])
@pytest.mark.parametrize("spool_first", [True, False])
@pytest.mark.parametrize("size", [1, 40_000], ids=["small", "large"])
async def test_it_is_reported_once(
    board: Board, listener: Listener, tool: str, spool_first: bool, size: int
):
    body = asked(board, tool, "x" * size, hold="h1")
    for is_spooled in (spool_first, not spool_first):
        board.clock.skip(4)
        if is_spooled:
            await listener.overhear([LateHook("claude", body, board.clock.now_ms(), 7)])
        else:
            await hold(board, listener, body)
        assert len((await plate(board)).pending) == 1
        assert (await plate(board)).status.startswith("awaiting")
    assert [one.id for one in (await plate(board)).pending] == ["h1"]
    told = await names(board)
    assert (told.count("permission_request"), told.count("input:requested")) == (1, 1)


@pytest.mark.parametrize("spool_first", [True, False])
async def test_it_is_reported_once_by_a_relay(board: Board, listener: Listener, spool_first: bool):
    intake = RelayIntake(board.plates, listener, Inbox(board.log, board.clock))
    source = RelaySource("host1234", "mac", "i1")
    body = asked(board, "Bash", hold="h1")
    for number, is_spooled in enumerate((spool_first, not spool_first), start=1):
        board.clock.skip(4)
        pid = 7 if is_spooled else None
        item = RelayItem(number, HOOK, body, board.clock.now_ms(), "claude", pid)
        assert await intake.take(source, [item]) == ([] if is_spooled else ["h1"])
        assert (await plate(board)).status == "awaiting_approval"
    assert [one.id for one in (await plate(board)).pending] == ["h1"]
    told = await names(board)
    assert (told.count("permission_request"), told.count("input:requested")) == (1, 1)


@pytest.mark.parametrize("spool_first", [True, False])
async def test_a_clock_that_is_ahead_changes_nothing(
    board: Board, listener: Listener, spool_first: bool
):
    body = asked(board, "Bash", hold="h1", sent_at=board.clock.now_ms() + 60_000)
    for is_spooled in (spool_first, not spool_first):
        board.clock.skip(4)
        if is_spooled:
            await listener.overhear([LateHook("claude", body, board.clock.now_ms(), 7)])
        else:
            await hold(board, listener, body)
    assert (await names(board)).count("permission_request") == 1


async def test_without_its_hook_no_one_is_asked(board: Board, listener: Listener):
    body = asked(board, "Bash", hold="h1")
    await listener.overhear([LateHook("claude", body, board.clock.now_ms(), 7)])
    assert "input:requested" not in await names(board)
    assert (await plate(board)).status == "awaiting_approval"


async def test_the_same_call_asked_twice_is_reported_twice(board: Board, listener: Listener):
    for id in ("h1", "h2"):
        body = asked(board, "Bash", hold=id)
        await listener.overhear([LateHook("claude", body, board.clock.now_ms(), 7)])
    assert (await names(board)).count("permission_request") == 2


async def test_a_client_that_a_relay_registers_twice_is_there_once(
    board: Board, listener: Listener
):
    intake = RelayIntake(board.plates, listener, Inbox(board.log, board.clock))
    source = RelaySource("host1234", "mac", "i1")
    told = {"agent": "claude", "pid": 7, "proc_start": "1", "project_path": "/x", "boot": "b1"}
    body = json.dumps({"event": REGISTERED, **told}).encode()
    await intake.take(source, [RelayItem(1, SIGHTING, body, 1)])
    found = await plate(board)
    assert (found.host, found.status, found.pid) == ("host1234", "starting", 7)
    ended = {"plate": found.plate_id, "event": "process_exit", "pid": 7, "start": "1"}
    end = RelayItem(2, SIGHTING, json.dumps(ended).encode(), 2)
    await intake.take(source, [end, RelayItem(1, SIGHTING, body, 1)])
    assert (await plate(board)).status == "closed"
    for wrong in ({"pid": "7"}, {"pid": 8}, {}):
        more = json.dumps({"event": REGISTERED, **wrong}).encode()
        await intake.take(source, [RelayItem(3, SIGHTING, more, 3)])
    assert (await plate(board)).status == "closed"
