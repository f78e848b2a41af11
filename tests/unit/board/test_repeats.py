"""A hook that waits and finds no server tells the spool as well: that is one dialog, not two."""

import json
from typing import Any

import pytest
from tests.unit.board.boards import SESSION, Board

from callboard.board.intake import Listener
from callboard.board.late_hook import LateHook
from callboard.board.plate import Plate


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def listener(board: Board) -> Listener:
    return Listener(board.plates, board.clock.now_ms)


def asked(board: Board, tool: str, **more: Any) -> bytes:
    payload = {
        "session_id": SESSION,
        "hook_event_name": "PermissionRequest",
        "tool_name": tool,
        "tool_input": {"command": "ls", "questions": [], "plan": "Do it"},
        "callboard": {"sent_at": board.clock.now_ms(), **more},
    }
    return json.dumps(payload).encode()


async def plate(board: Board) -> Plate:
    (found,) = await board.plates.all()
    return found


@pytest.mark.parametrize("tool", ["Bash", "AskUserQuestion", "ExitPlanMode"])
@pytest.mark.parametrize("spool_first", [True, False])
async def test_it_is_one_dialog(board: Board, listener: Listener, tool: str, spool_first: bool):
    told, held = asked(board, tool, delivery="d1"), asked(board, tool, hold="h1")
    for is_spooled in (spool_first, not spool_first):
        board.clock.skip(4)
        if is_spooled:
            await listener.overhear([LateHook("claude", told, board.clock.now_ms(), 7)])
        else:
            report = await listener.read("claude", held)
            assert report is not None
            heard = await listener.hear(report)
            assert heard is not None
            assert heard.interaction_id == "h1"
        assert len((await plate(board)).pending) == 1
        assert (await plate(board)).status.startswith("awaiting")
    assert [one.id for one in (await plate(board)).pending] == ["h1"]
