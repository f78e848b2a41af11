"""What a relay does for a server that asks for anything, with whatever its owner granted."""

import asyncio
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import NotFound
from callboard.events.json_values import Object
from callboard.relay import command_table
from callboard.relay.command_table import Command, CommandJournal, CommandTable
from callboard.relay.commands import Commands
from callboard.relay.contact import ServerContact
from callboard.relay.outbox import Outbox
from callboard.relay.settings import POWERS, Power, RelaySettings, read_settings, write_settings
from callboard.testing.fake_clock import FakeClock

SOON = 5.0


class Machine:
    """A machine with one command for each power, which count what they did."""

    def __init__(self, folder: Path, granted: Collection[Power] = ()) -> None:
        self.folder = folder
        self.granted = granted
        self.done: list[tuple[str, Object]] = []
        self.restart()

    def restart(self) -> None:
        commands = {power: self.command(power) for power in POWERS}
        commands["check"] = self.command(None)
        commands["write"] = Command(self.command(None).run, changes=True)
        journal = CommandJournal(self.folder / "commands")
        self.table = CommandTable(commands, self.granted, journal)

    def command(self, power: Power | None) -> Command:
        async def run(data: Object) -> Object:
            self.done.append((power or "", data))
            return {"did": power}

        return Command(run, power)

    async def do(self, name: str, id: str = "c1", data: Object | None = None) -> dict[str, Any]:
        receipt = await self.table.do(name, id, data or {}, SOON)
        assert receipt is not None
        return dict(receipt)


@pytest.mark.parametrize("power", POWERS)
async def test_only_a_granted_power_is_used(tmp_path: Path, power: Power):
    machine = Machine(tmp_path, [power])
    for asked in POWERS:
        told = await machine.do(asked)
        if asked == power:
            assert (told["result"], told["value"]) == ("done", {"did": power})
        else:
            assert (told["result"], told["code"], told["power"]) == (
                "refused", "POWER_NOT_GRANTED", asked,
            )  # fmt: skip
    assert machine.done == [(power, {})]


@pytest.mark.parametrize(
    "data",
    [
        {"power": "check"},
        {"granted": [*POWERS]},
        {"powers": [*POWERS], "allow": "start"},
        {"command": "check", "id": "c2"},
    ],
)
async def test_a_server_cannot_widen_a_grant(tmp_path: Path, data: Object):
    machine = Machine(tmp_path)
    for name in (*POWERS, "grant", "allow", "settings", "Read", "read ", "", "__init__"):
        assert (await machine.do(name, data=data))["result"] == "refused"
    assert machine.done == []


@pytest.mark.parametrize("id", ["", "a b", "x" * 65, "../x", "é", "a\nb"])
async def test_an_id_that_is_none_does_nothing(tmp_path: Path, id: str):
    machine = Machine(tmp_path)
    assert (await machine.do("check", id))["result"] == "refused"
    assert machine.done == []


async def test_frames_of_a_hostile_server_do_nothing(tmp_path: Path):
    machine = Machine(tmp_path)
    outbox = Outbox(tmp_path / "outbox")
    outbox.open()
    contact = ServerContact(FakeClock())
    commands = Commands(outbox, dict, {}, contact, machine.table)
    for number, frame in enumerate(
        [
            b'event: start\nid: %d\ndata: {"within":1e999,"data":{"prompt":"x"}}',
            b'event: say\nid: %d\ndata: {"within":NaN,"data":7}',
            b"event: read\nid: %d\ndata: []",
            b"event: read\nid: %d\ndata: {",
            b"event: \xff\xfe\nid: %d\ndata: {}",
        ]
    ):
        commands._read(frame % number)
    await asyncio.gather(*commands._tasks)
    receipts = [json.loads(one.body) for one in outbox.first(100, 10**6)]
    assert {one["result"] for one in receipts} == {"refused"}
    assert machine.done == []


async def test_a_command_that_changes_something_is_done_once(tmp_path: Path):
    machine = Machine(tmp_path)
    assert (await machine.do("write"))["result"] == "done"
    assert (await machine.do("write"))["code"] == "ALREADY_DONE"
    machine.restart()
    assert (await machine.do("write"))["code"] == "ALREADY_DONE"
    assert (await machine.do("write", "c2"))["result"] == "done"
    assert len(machine.done) == 2


async def test_nothing_is_changed_if_the_id_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    machine = Machine(tmp_path)

    def no_room(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command_table, "replace", no_room)
    told = await machine.do("write")
    assert (told["result"], told["message"]) == ("refused", "No space left on device")
    assert machine.done == []


async def test_the_journal_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command_table, "REMEMBERED", 3)
    journal = CommandJournal(tmp_path / "commands")
    assert [journal.begin(str(number)) for number in range(5)] == ["new"] * 5
    assert json.loads((tmp_path / "commands").read_bytes()) == ["2", "3", "4"]


async def test_a_command_that_is_being_done_is_not_begun_again(tmp_path: Path):
    begun: list[Object] = []
    waiting = asyncio.Event()

    async def run(data: Object) -> Object:
        begun.append(data)
        await waiting.wait()
        return {}

    table = CommandTable({"wait": Command(run)}, (), CommandJournal(tmp_path / "commands"))
    first = asyncio.create_task(table.do("wait", "c1", {}, SOON))
    await asyncio.sleep(0)
    assert await table.do("wait", "c1", {}, SOON) is None
    waiting.set()
    assert await first is not None
    assert len(begun) == 1


async def test_what_goes_wrong_is_told(tmp_path: Path):
    async def slow(data: Object) -> Object:
        await asyncio.Event().wait()
        return {}

    async def large(data: Object) -> Object:
        return {"text": "x" * command_table.LARGEST_RESULT}

    async def missing(data: Object) -> Object:
        raise NotFound("No such plate.")

    async def broken(data: Object) -> Object:
        raise KeyError("secret")

    commands = {one.__name__: Command(one) for one in (slow, large, missing, broken)}
    table = CommandTable(commands, (), CommandJournal(tmp_path / "commands"))
    told = {name: dict(await table.do(name, name, {}, 0.01) or {}) for name in commands}
    assert {one["result"] for one in told.values()} == {"failed"}
    assert {name: one["message"] for name, one in told.items()} == {
        "slow": "it took too long",
        "large": "the result is too large",
        "missing": "No such plate.",
        "broken": "KeyError",
    }


def test_powers_are_kept_with_the_settings(tmp_path: Path):
    several: list[tuple[Power, ...]] = [(), ("read",), POWERS]
    for powers in several:
        settings = RelaySettings("https://x", "cb_x", "host1", "mac", None, powers)
        write_settings(tmp_path, settings)
        assert read_settings(tmp_path) == settings


def test_settings_from_before_grant_nothing(tmp_path: Path):
    (tmp_path / "relay.json").write_text('{"server": "https://x", "token": "cb_x"}')
    assert read_settings(tmp_path).powers == ()
    (tmp_path / "relay.json").write_text('{"powers": ["read", "root", 7]}')
    assert read_settings(tmp_path).powers == ("read",)
