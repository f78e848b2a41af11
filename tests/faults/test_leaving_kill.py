"""Killed at any append: what a workflow left open is neither lost nor ended twice."""

import asyncio
import signal
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.laws import check_laws
from tests.faults.leaving_process import RESPONSE, SESSION, live
from tests.faults.processes import living

from callboard import Callboard
from callboard.events.envelope import Event
from callboard.events.rows import KEYS, Query
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.protocol import EventLog
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import Crashed, FaultyLog

ENDING = ["input:detached", "workflow:completed"]


def named(events: list[Event]) -> list[str]:
    return [event.name for event in events]


async def check(log: EventLog) -> None:
    """One question, one end of it, in a stream of its own; the tables follow from the log."""
    board = Callboard(log)
    events = await board.events(SESSION)
    check_laws(events)
    assert named(events)[-2:] == ENDING
    [asked] = await board.people.find(session_id=SESSION)
    assert (asked.status, asked.response) == ("completed", RESPONSE)
    own = named(await log.read(asked.id))
    assert (own.count("input:received"), own[-1]) == (1, "input:received")
    assert await log.unsettled() == []
    before = {table: await log.rows(Query(table)) for table in KEYS}
    await board.rebuild()
    assert {table: await log.rows(Query(table)) for table in KEYS} == before


async def appends() -> int:
    log = FaultyLog(MemoryLog(project, FakeClock()))
    await live(log)
    return log.appends


@pytest.mark.parametrize("when", ["before", "after"])
async def test_crash_at_every_append(when: str):
    count = await appends()
    for append in range(1, count + 1):
        memory = SharedMemory()
        log = FaultyLog(MemoryLog(project, FakeClock(), memory))
        log.crash(**{when: append})
        with suppress(Crashed):
            await live(log)
        assert log.crashed
        await live(MemoryLog(project, FakeClock(), memory))
        await check(MemoryLog(project, FakeClock(), memory))


async def halted(process: Process, times: int) -> bool:
    """Whether it halted so often before it ended."""
    assert process.stdout is not None
    assert process.stdin is not None
    while times and (line := (await process.stdout.readline()).decode().split()):
        if line[0] == "halt":
            times -= 1
            if times:
                process.stdin.write(b"\n")
    return not times


async def killed(path: Path, halts: int) -> bool:
    async with living("leaving_process", path, stdin=PIPE) as process, asyncio.timeout(120):
        if not await halted(process, halts):
            return False
        process.send_signal(signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
    return True


async def finish_and_check(path: Path) -> None:
    log = SqliteLog.open(path, project)
    await live(log)
    await check(log)
    await log.close()


@pytest.mark.timeout(300)
async def test_killed_just_after_the_workflow_has_ended(tmp_path: Path):
    """Its stream has ended, and the one in which the session goes on has not begun."""
    count = await appends()
    assert await killed(tmp_path / "cb.db", 2 * (count - 2))
    await finish_and_check(tmp_path / "cb.db")


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_killed_at_every_append(tmp_path: Path):
    halts = 1
    while await killed(tmp_path / f"{halts}.db", halts):
        await finish_and_check(tmp_path / f"{halts}.db")
        halts += 1
    assert halts == 2 * await appends() + 1
