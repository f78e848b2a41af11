"""A log that fails, dawdles or dies when a test wants it to."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from callboard.errors import SessionOwned, StoreBusy
from callboard.events.rows import Query
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.protocol import Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.faults import Crashed, FaultyLog, Mortal
from callboard.testing.log_suite_material import several

Open = Callable[[], Mortal]


@pytest.fixture(params=["memory", "sqlite"])
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens one more handle on one and the same store."""
    memory = SharedMemory()
    if request.param == "memory":
        return lambda: MemoryLog(project, memory=memory)
    return lambda: SqliteLog.open(tmp_path / "log.db", project)


async def test_without_a_fault_it_is_the_log_itself(open_log: Open):
    log = FaultyLog(open_log())
    await log.append("s", several(2), Writing(claim=True))
    assert (await log.head("s"), len(await log.read("s")), log.appends) == (2, 2, 1)
    lease = await log.lease("s")
    assert lease is not None
    assert lease.owner == log.owner
    assert await log.unsettled() == ["s"]
    assert await log.rows(Query("sessions")) == []
    assert (await anext(aiter(log.tail("s")))).position == 1
    assert (await anext(aiter(log.tail_all())))[0] == 1
    assert await log.rebuild() == 2
    log.on_change("s", lambda head: None)()
    await log.close()


async def test_it_dies_before_an_append(open_log: Open):
    log = FaultyLog(open_log()).crash(before=2)
    await log.append("s", several(1))
    with pytest.raises(Crashed):
        await log.append("s", several(1))
    other = open_log()
    assert await other.head("s") == 1
    await other.close()


async def test_it_dies_after_an_append_that_nobody_heard_of(open_log: Open):
    log = FaultyLog(open_log()).crash(after=2)
    await log.append("s", several(1))
    with pytest.raises(Crashed):
        await log.append("s", several(1))
    other = open_log()
    assert await other.head("s") == 2
    await other.close()


async def test_the_dead_say_nothing_more(open_log: Open):
    log = FaultyLog(open_log()).crash()
    assert log.crashed
    for call in (
        lambda: log.append("s", several(1)),
        lambda: log.read("s"),
        lambda: log.head("s"),
        lambda: log.lease("s"),
        lambda: log.unsettled(),
        lambda: log.rows(Query("sessions")),
        lambda: log.rebuild(),
    ):
        with pytest.raises(Crashed):
            await call()
    for call in (
        lambda: log.tail("s"),
        lambda: log.tail_all(),
        lambda: log.on_change("s", lambda head: None),
    ):
        with pytest.raises(Crashed):
            call()
    await log.close()


async def test_the_leases_of_the_dead_can_be_taken(open_log: Open):
    log, other = FaultyLog(open_log()), open_log()
    await log.append("s", several(1), Writing(claim=True))
    with pytest.raises(SessionOwned):
        await other.append("s", several(1), Writing(claim=True))
    log.crash()
    assert (await other.append("s", several(1), Writing(claim=True))).epoch == 2
    await other.close()


async def test_no_handler_of_errors_stops_a_crash(open_log: Open):
    log = FaultyLog(open_log()).crash(before=1)

    async def careless() -> None:
        with suppress(Exception):
            await log.append("s", several(1))

    with pytest.raises(Crashed):
        await careless()


async def test_it_fails_instead_of_an_append(open_log: Open):
    log = FaultyLog(open_log()).fail(StoreBusy(), before=1)
    with pytest.raises(StoreBusy):
        await log.append("s", several(1))
    assert await log.head("s") == 0
    await log.append("s", several(1))
    await log.close()


async def test_it_fails_after_an_append_that_happened(open_log: Open):
    log = FaultyLog(open_log()).fail(StoreBusy(), after=1)
    with pytest.raises(StoreBusy):
        await log.append("s", several(1))
    assert await log.head("s") == 1
    await log.close()


async def test_it_keeps_an_append_waiting(open_log: Open):
    gate, heard = asyncio.Event(), asyncio.Event()
    log = FaultyLog(open_log()).delay(gate, before=1).delay(heard, after=2)
    first = asyncio.create_task(log.append("s", several(1)))
    second = asyncio.create_task(log.append("t", several(1)))
    while not await log.head("t"):
        await asyncio.sleep(0)
    assert (first.done(), second.done(), await log.head("s")) == (False, False, 0)
    gate.set()
    await first
    heard.set()
    await second
    await log.close()


async def test_a_crash_reaches_whoever_is_being_kept_waiting(open_log: Open):
    gate = asyncio.Event()
    log = FaultyLog(open_log()).delay(gate, before=1).delay(gate, after=2)
    waiting = [asyncio.create_task(log.append(stream, several(1))) for stream in "st"]
    await asyncio.sleep(0)
    log.crash()
    gate.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Crashed, Crashed]
