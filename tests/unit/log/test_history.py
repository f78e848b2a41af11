"""Readers of a log whose newest events are gone, and others are written in their place."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.lost_events import fail_over, lose

from callboard.errors import HistoryChanged
from callboard.log.memory import MemoryLog
from callboard.testing.log_suite_material import several

PATIENCE = 5


@pytest.fixture
async def log() -> AsyncIterator[MemoryLog]:
    log = MemoryLog()
    await log.append("s", several(5))
    yield log
    await log.close()


def tail(log: MemoryLog, kind: str, after: int) -> AsyncIterator[Any]:
    return log.tail("s", after) if kind == "one" else log.tail_all(after)


both = pytest.mark.parametrize("kind", ["one", "all"])


async def waiting(reading: AsyncIterator[Any]) -> "asyncio.Future[Any]":
    """The next item of a tail that has nothing to read now."""
    coming = asyncio.ensure_future(anext(reading))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not coming.done()
    return coming


@both
@pytest.mark.parametrize("written", [0, 1, 2, 7])
async def test_a_tail_that_has_read_lost_events_fails(log: MemoryLog, kind: str, written: int):
    reading = tail(log, kind, 0)
    for _ in range(5):
        await anext(reading)
    coming = await waiting(reading)
    lose(log, "s", 2)
    await log.append("s", several(written))
    with pytest.raises(HistoryChanged):
        async with asyncio.timeout(PATIENCE):
            await coming


@both
@pytest.mark.parametrize("written", [0, 2, 7])
async def test_a_tail_that_started_at_a_lost_event_fails(log: MemoryLog, kind: str, written: int):
    coming = await waiting(tail(log, kind, 5))
    lose(log, "s", 2)
    await log.append("s", several(written))
    with pytest.raises(HistoryChanged):
        async with asyncio.timeout(PATIENCE):
            await coming


@both
async def test_a_tail_that_lost_nothing_continues(log: MemoryLog, kind: str):
    reading = tail(log, kind, 3)
    for _ in range(2):
        await anext(reading)
    coming = await waiting(reading)
    fail_over(log)
    await log.append("s", several(1))
    async with asyncio.timeout(PATIENCE):
        await coming


async def test_a_tail_may_have_read_nothing_yet(log: MemoryLog):
    coming = await waiting(log.tail("t"))
    fail_over(log)
    await log.append("t", several(1))
    async with asyncio.timeout(PATIENCE):
        assert (await coming).position == 1


async def test_a_tail_reads_nothing_past_a_lost_event(log: MemoryLog):
    """What is read while another server takes over may already be from there."""
    reading = log.tail("s", 4)
    await anext(reading)
    whole = log.read

    async def read(*given: Any, **more: Any) -> Any:
        log.read = whole  # type: ignore[method-assign]
        lose(log, "s", 2)
        await log.append("s", several(3))
        return await whole(*given, **more)

    log.read = read  # type: ignore[method-assign]
    with pytest.raises(HistoryChanged):
        await anext(reading)
