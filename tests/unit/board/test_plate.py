"""A plate as it stands in events, rows and on the wire."""

from dataclasses import fields, replace
from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard.board.plate import Pending, Plate, Todo, Unsettled, changed
from callboard.board.transition import Status

PLATE = Plate("p1", "claude", "s1", created_at=1000, updated_at=2000)
FULL = replace(
    PLATE,
    status="awaiting_input",
    status_at=1500,
    pid=42,
    proc_start="77",
    boot_id="b1",
    client_pid=43,
    client_start="78",
    host="h1",
    host_name="desk",
    project_path="/p",
    git_branch="main",
    transcript_path="/t",
    tmux_target="%1",
    model="m",
    last_event="stop",
    last_tool="Bash",
    last_message="done",
    prompt="go",
    error="no",
    ended="other",
    name="mine",
    pinned=True,
    unseen=True,
    interrupted=True,
    dismissed=True,
    pending=(Pending("i1", "Bash", "c", "Run: ls", 1400, "a1"),),
    unsettled=(
        Unsettled("i2", "Bash", "c", 1300, 1350, "t1", "/t", handed="allowed", seen="allowed"),
    ),
    todos=(Todo("1", "Write", "completed"), Todo("2", "Test", "pending")),
    background=({"id": "b1", "kind": "shell", "description": "make"},),
    subagents=("a1", "b1"),
    relayed="outbox01:7",
)


def test_every_field_differs_in_the_full_plate():
    known = {"plate_id", "agent", "session_id", "created_at", "updated_at"}
    same = {
        one.name for one in fields(Plate) if getattr(FULL, one.name) == getattr(PLATE, one.name)
    }
    assert same == known


@pytest.mark.parametrize("plate", [PLATE, FULL])
def test_json_and_back(plate: Plate):
    assert Plate.from_json(plate.to_json()) == plate


TWO_DIALOGS = (Pending(None, "Bash", "c", "Run: ls", 1), Pending("i1", "Read", "d", "Read: x", 2))


@pytest.mark.parametrize("plate", [PLATE, FULL, replace(PLATE, pending=TWO_DIALOGS)])
def test_the_wire_and_back(plate: Plate):
    read = Plate.from_wire(plate.to_wire())

    assert read.to_wire() == plate.to_wire()
    assert (read.attention, read.urgency) == (plate.attention, plate.urgency)


def test_only_what_is_different_is_told():
    assert changed(PLATE, PLATE) == {}
    assert changed(PLATE, replace(PLATE, unseen=True)) == {"unseen": True}
    assert changed(None, PLATE) == PLATE.to_json()


async def test_a_row_holds_the_whole_plate():
    board = Board()
    plate = await board.tell("session_start")
    (row,) = await board.plates.all()
    assert row == plate


@pytest.mark.parametrize(
    ("status", "unseen", "asks", "attention"),
    [
        ("starting", True, False, False),
        ("running", True, False, False),
        ("running", False, True, True),
        ("idle", True, False, True),
        ("idle", False, False, False),
        ("awaiting_input", False, False, True),
        ("awaiting_approval", False, False, True),
        ("error", False, False, True),
        ("closed", True, True, False),
    ],
)
def test_who_needs_attention(status: Status, unseen: bool, asks: bool, attention: bool):
    pending = (Pending(None, "Bash", "", "Run: ls", 0, "a1"),) if asks else ()
    plate = replace(PLATE, status=status, unseen=unseen, pending=pending)
    assert plate.attention is attention


def test_the_wire_says_what_is_asked_and_how_far_it_is():
    wire: dict[str, Any] = FULL.to_wire()
    assert wire["waitingFor"] == "Run: ls"
    assert wire["interactionId"] == "i1"
    assert wire["todoProgress"] == "1/2"
    assert wire["todos"][0] == {"text": "Write", "status": "completed"}
    assert wire["createdAt"] == "1970-01-01T00:00:01.000Z"
    assert [one["id"] for one in wire["background"]] == ["b1", "a1"], "b1 is told of once"


def test_an_empty_plate_asks_nothing():
    wire = PLATE.to_wire()
    assert (wire["waitingFor"], wire["interactionId"], wire["todoProgress"]) == (None, None, None)
