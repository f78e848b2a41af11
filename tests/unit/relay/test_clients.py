"""What a relay sees in the files of its machine's clients, and what the server makes of it."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.codex_app_server import SESSION, PlayedAppServer, listening
from tests.real_clients.patience import until

from callboard.relay.clients import ClientWatch
from callboard.relay.outbox import Outbox
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.codex import app_server

PID = 4711
AGO = 5000
"""Milliseconds: no hook of what happened then is in transit."""


class Machine:
    """A machine with one client, whose files the test writes."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.outbox = Outbox(folder / "outbox")
        self.outbox.open()
        self.home = folder / "claude"
        (self.home / "sessions").mkdir(parents=True)
        self.transcript = self.home / "projects" / "s.jsonl"
        self.transcript.parent.mkdir()
        self.watch = ClientWatch(self.outbox, self.clock.now_ms)

    def says(self, status: str, ago: int = AGO) -> None:
        at = self.clock.now_ms() - ago
        told = {"pid": PID, "sessionId": "s1", "status": status, "statusUpdatedAt": at}
        (self.home / "sessions" / f"{PID}.json").write_text(json.dumps(told), encoding="utf-8")

    def interrupts(self, ago: int = AGO) -> None:
        at = self.clock.now_ms() - ago
        block = {"type": "text", "text": "[Request interrupted by user]"}
        record = {"type": "user", "timestamp": _iso(at), "message": {"content": [block]}}
        self.transcript.write_text(json.dumps(record) + "\n", encoding="utf-8")

    def plate(self, **more: Any) -> dict[str, Any]:
        at = self.clock.now_ms() - 2 * AGO
        return {
            "plate": "p1", "agent": "claude", "pid": PID, "start": None, "session": "s1",
            "status": "running", "statusAt": at, "updatedAt": at, "lastEvent": "prompt_submit",
            "transcript": str(self.transcript), "pending": [], **more,
        }  # fmt: skip

    def look(self) -> list[tuple[str, Any]]:
        """What has been reported so far."""
        self.watch.look()
        told = [json.loads(one.body) for one in self.outbox.first(100, 10**6)]
        return [(one["event"], one["payload"]) for one in told]


def _iso(at_ms: int) -> str:
    from callboard.events.moments import from_ms, iso

    return iso(from_ms(at_ms))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return Machine(tmp_path)


def idle(seen_in: str) -> tuple[str, Any]:
    return ("turn_idle", {"interrupted": True, "seenIn": seen_in})


def test_esc_is_in_the_transcript_at_once(machine: Machine):
    machine.says("idle", ago=0)
    machine.interrupts(ago=0)
    machine.watch.watch([machine.plate()])
    assert machine.look() == [idle("transcript")]


def test_an_idle_client_whose_hook_was_lost(machine: Machine):
    machine.says("idle", ago=0)
    machine.watch.watch([machine.plate()])
    assert machine.look() == []  # Its hook may be in transit.
    machine.clock.skip(3)
    assert machine.look() == [idle("registry")]


def test_a_dialog_that_was_left(machine: Machine):
    asked = {"at": machine.clock.now_ms() - 2 * AGO, "subagent": None}
    machine.says("waiting")
    machine.watch.watch([machine.plate(status="awaiting_approval", pending=[asked])])
    assert machine.look() == []
    machine.says("idle")
    assert machine.look() == [idle("registry")]


def test_a_client_without_a_registry(machine: Machine):
    machine.interrupts()
    machine.watch.watch([machine.plate()])
    assert machine.look() == [idle("transcript")]


def test_it_is_reported_once_for_each_state(machine: Machine):
    machine.says("idle")
    machine.watch.watch([machine.plate()])
    machine.look()
    assert machine.look() == [idle("registry")]
    machine.watch.watch([machine.plate(lastEvent="tool_start")])
    assert machine.look() == [idle("registry")] * 2


def test_another_session_or_a_working_client_says_nothing(machine: Machine):
    machine.says("idle")
    machine.watch.watch([machine.plate(session="s2")])
    assert machine.look() == []
    machine.says("busy")
    machine.watch.watch([machine.plate()])
    assert machine.look() == []


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder for sockets, whose paths have a limit of about a hundred bytes."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


async def test_a_codex_turn_whose_end_only_its_app_server_shows(
    machine: Machine, short_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(app_server, "TRY_AGAIN", 0.01)
    monkeypatch.setenv("CODEX_HOME", str(short_path))
    socket, server = app_server.control_socket(), PlayedAppServer()
    socket.parent.mkdir()
    plate = machine.plate(agent="codex", session=SESSION, transcript="")
    async with listening(socket, server):
        machine.watch.watch([plate])
        await until(lambda: server.writer is not None, "it asks the app server")
        assert machine.look() == []
        server.changes(machine.clock.now_ms() - AGO, type="idle")
        await until(lambda: machine.look() == [idle("registry")], "the turn has ended")
        await machine.watch.stop()


def test_the_outcome_of_a_request_that_was_answered(machine: Machine):
    """A refusal has no hook: only the transcript says that the agent was told."""
    at = machine.clock.now_ms() - AGO
    use = {"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": "x"}}
    result = {"type": "tool_result", "tool_use_id": "u1", "content": "no", "is_error": True}
    records = [
        {"type": "assistant", "timestamp": _iso(at - 10), "message": {"content": [use]}},
        {
            "type": "user",
            "timestamp": _iso(at + 10),
            "toolDenialKind": "hook",
            "permissionDecision": {"decision": "reject", "source": "hook"},
            "message": {"content": [result]},
        },
    ]
    lines = "".join(json.dumps(one) + "\n" for one in records)
    machine.transcript.write_text(lines, encoding="utf-8")
    asked = {
        "id": "q1", "tool": "Bash", "call": "c", "at": at, "closed_at": at, "use": "u1",
        "transcript": str(machine.transcript), "handed": "denied", "seen": None, "others": [],
    }  # fmt: skip
    machine.watch.watch([machine.plate(status="idle", unsettled=[asked])])
    outcome = {"outcome": "denied", "source": "transcript", "via": "hook", "final": True}
    settled = ("permission_settled", {"request": "q1", "toolUseId": "u1", **outcome})
    assert machine.look() == [settled]
    assert machine.look() == [settled]  # Once.


def test_files_elsewhere_are_not_read(machine: Machine, tmp_path: Path):
    """The server names the transcript, and must not find out about other files."""
    machine.interrupts()
    elsewhere = tmp_path / "other.jsonl"
    machine.transcript.rename(elsewhere)
    machine.transcript.symlink_to(elsewhere)
    for path in (elsewhere, machine.transcript, machine.home / "projects/../../other.jsonl"):
        machine.watch.watch([machine.plate(transcript=str(path))])
        assert machine.look() == []


@pytest.mark.parametrize(
    "told",
    [{}, {"plate": 1, "agent": [], "status": "gone", "pending": [3]}, {"pending": [{"at": "x"}]}],
)
def test_nonsense_from_a_server(machine: Machine, told: dict[str, Any]):
    machine.watch.watch([told])
    assert machine.look() == []
