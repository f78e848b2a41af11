"""A machine that is killed while it hands a message over: before that was noted, or after."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.events.json_values import Object
from callboard.relay import command_table
from callboard.relay.command_table import Command, CommandJournal, CommandTable, Note

SOON = 5.0

_MACHINE = """
import asyncio, os, signal, sys
from pathlib import Path
from callboard.relay.command_table import Command, CommandJournal, CommandTable

async def say(data, note):
    if sys.argv[2] == "after":
        note()
    os.kill(os.getpid(), signal.SIGKILL)

commands = {"say": Command(say, changes=True, notes=True)}
table = CommandTable(commands, (), CommandJournal(Path(sys.argv[1])))
asyncio.run(table.do("say", "m1-1", {}, 5.0))
"""


class Machine:
    """A machine that counts what it hands over. stops: whether it never gets to it."""

    def __init__(self, journal: Path, *, stops: bool = False) -> None:
        self.said = 0
        self.stops = stops
        self.is_stopped = asyncio.Event()
        commands = {"say": Command(self._say, changes=True, notes=True)}
        self.table = CommandTable(commands, (), CommandJournal(journal))

    async def _say(self, data: Object, note: Note) -> Object:
        if self.stops:
            self.is_stopped.set()
            await asyncio.Event().wait()
        note()
        self.said += 1
        return {}

    async def ask(self, within: float = SOON) -> Object | None:
        return await self.table.do("say", "m1-1", {}, within)


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_what_it_had_not_noted_is_done_after_all(tmp_path: Path, moment: str):
    journal = tmp_path / "commands"
    killed = subprocess.run([sys.executable, "-c", _MACHINE, journal, moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    machine = Machine(journal)
    told = await machine.ask()
    assert told is not None
    assert (told["result"], machine.said) == (("done", 1) if moment == "before" else ("refused", 0))
    told = await machine.ask()
    assert told is not None
    assert told["code"] == "ALREADY_DONE"
    assert machine.said == (moment == "before")


async def test_two_machines_with_one_journal_do_it_once(tmp_path: Path):
    journal = tmp_path / "commands"
    first, other = Machine(journal, stops=True), Machine(journal)
    doing = asyncio.create_task(first.ask())
    await first.is_stopped.wait()
    assert await other.ask() is None  # The first one may still do it.
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    assert await other.ask() is not None
    assert (first.said, other.said) == (0, 1)


async def test_what_took_too_long_before_anything_was_done_is_refused(tmp_path: Path):
    machine = Machine(tmp_path / "commands", stops=True)
    told = await machine.ask(0.01)
    assert told == {
        "command": "say", "id": "m1-1", "result": "refused", "message": "it took too long",
    }  # fmt: skip
    machine.stops = False
    assert dict(await machine.ask() or {})["result"] == "done"
    assert machine.said == 1


async def test_a_thread_that_is_late_changes_nothing(tmp_path: Path):
    notes: list[Note] = []

    async def say(data: Object, note: Note) -> Object:
        notes.append(note)
        await asyncio.Event().wait()
        return {}

    commands = {"say": Command(say, changes=True, notes=True)}
    table = CommandTable(commands, (), CommandJournal(tmp_path / "commands"))
    await table.do("say", "m1-1", {}, 0.01)
    with pytest.raises(OSError, match="it took too long"):
        notes[0]()


async def test_nothing_is_done_if_it_cannot_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    machine = Machine(tmp_path / "commands", stops=True)
    doing = asyncio.create_task(machine.ask(SOON))
    await machine.is_stopped.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    machine.stops = False
    calls: list[int] = []
    real = command_table.replace

    def no_room(path: Path, content: bytes) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(path, content)

    monkeypatch.setattr(command_table, "replace", no_room)
    told = await machine.ask()
    assert told is not None
    assert (told["result"], told["message"]) == ("refused", "No space left on device")
    assert machine.said == 0
