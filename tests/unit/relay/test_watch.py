"""What a relay reports about processes and hooks that are gone, and what a full disk does."""

import asyncio
import json
from pathlib import Path

import pytest

from callboard.board.spool.files import Spool
from callboard.relay import hooks as relay_hooks
from callboard.relay.command_table import CommandJournal, CommandTable
from callboard.relay.commands import Commands, decide_with
from callboard.relay.contact import ServerContact
from callboard.relay.hooks import RelayHooks
from callboard.relay.http import HttpFailed
from callboard.relay.outbox import Outbox
from callboard.relay.processes import UNHELD_SECS, ProcessWatch
from callboard.testing.fake_clock import FakeClock

DEAD = 2**22 + 1
"""No process has this id."""


class Machine:
    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.outbox = Outbox(folder / "outbox")
        self.outbox.open()
        spool = Spool(folder / "hooks", self.clock)
        self.hooks = RelayHooks(self.outbox, spool, "cb_x", lambda: None)
        self.watch = ProcessWatch(
            self.outbox, self.clock.monotonic, lambda: self.hooks.holds, self.hooks.gone
        )

    @property
    def reported(self) -> list[tuple[str, object]]:
        found = [(one.kind, json.loads(one.body)) for one in self.outbox.first(100, 10**6)]
        return [(kind, told.get("hold") or told.get("pid")) for kind, told in found]


def plate(pid: int | None = None, *holds: str) -> dict[str, object]:
    return {"plate": "p1", "pid": pid, "start": "1", "boot": "", "holds": list(holds)}


def test_a_gone_hook_is_reported_once_during_a_cut_of_hours(tmp_path: Path):
    machine = Machine(tmp_path)
    machine.watch.watch({"plates": [plate(None, "q1")]})
    for _ in range(600):
        machine.watch.look_for_hooks()
        machine.clock.skip(UNHELD_SECS)
    assert machine.reported == [("gone", "q1")]


def test_each_process_of_a_plate_is_watched(tmp_path: Path):
    """A session that is resumed at once continues on its plate, in another process."""
    machine = Machine(tmp_path)
    for pid in (DEAD, DEAD + 1):
        machine.watch.watch({"plates": [plate(pid)]})
        machine.watch.look()
        machine.watch.look()
    assert machine.reported == [("sighting", DEAD), ("sighting", DEAD + 1)]


async def test_a_decision_waits_for_room_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The hook keeps waiting, and the server sends the decision again."""
    machine = Machine(tmp_path)
    waiting = machine.hooks._wait_for("q1")
    commands = Commands(
        machine.outbox,
        dict,
        {"decide": decide_with(machine.hooks.decide)},
        ServerContact(machine.clock),
        CommandTable({}, (), CommandJournal(tmp_path / "commands")),
    )
    told = json.dumps({"hold": "q1", "output": {"x": 1}, "answers": True})
    frame = f"event: decide\nid: c1\ndata: {told}".encode()
    with monkeypatch.context() as full:
        full.setattr(Outbox, "add", _no_room)
        with pytest.raises(HttpFailed, match="No space left"):
            commands._read(frame)
        assert not waiting.done()
    commands._read(frame)
    assert (waiting.result(), machine.reported) == ({"x": 1}, [("receipt", "q1")])


async def test_a_hook_that_was_not_taken_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    machine = Machine(tmp_path)
    body = b'{"a":1,"callboard":{"pid":1,"hold":"q1"}}'
    monkeypatch.setattr(Outbox, "add", _no_room)
    with pytest.raises(relay_hooks._Refusal):
        await machine.hooks._hook("claude", body, asyncio.StreamReader())
    assert machine.hooks.holds == []


async def test_a_hook_that_lost_its_decision_gets_it_again(tmp_path: Path):
    machine = Machine(tmp_path)
    machine.hooks._wait_for("q1")
    machine.hooks.decide("q1", {"x": 1}, is_answer=True)
    again = machine.hooks._wait_for("q1")
    async with asyncio.timeout(5):
        assert await machine.hooks._wait("q1", again, asyncio.StreamReader()) == {"x": 1}


def _no_room(*given: object) -> int:
    raise OSError(28, "No space left on device")
