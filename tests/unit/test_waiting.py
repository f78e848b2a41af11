"""Waiting for the first of several things."""

import asyncio

import pytest

from callboard.waiting import wait_any


async def fail() -> None:
    raise ValueError("no")


async def test_the_first_that_is_done_is_named():
    happened = asyncio.Event()
    happened.set()
    assert await wait_any(asyncio.Event().wait(), happened.wait()) == 1


async def test_of_several_the_lowest_is_named():
    happened = asyncio.Event()
    happened.set()
    assert await wait_any(happened.wait(), happened.wait()) == 0


async def test_a_coroutine_is_cancelled_when_something_else_is_first():
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    assert await wait_any(wait(), asyncio.sleep(0)) == 1
    await asyncio.sleep(0)
    assert ended == ["cancelled"]


async def test_a_task_of_the_caller_keeps_running():
    go_on = asyncio.Event()
    task = asyncio.create_task(go_on.wait())
    assert await wait_any(task, asyncio.sleep(0)) == 1
    go_on.set()
    assert await task


async def test_a_coroutine_that_fails_raises_here_and_a_task_does_not():
    with pytest.raises(ValueError, match="no"):
        await wait_any(asyncio.Event().wait(), fail())
    task = asyncio.create_task(fail())
    assert await wait_any(asyncio.Event().wait(), task) == 1
    assert str(task.exception()) == "no"


async def test_nothing_is_named_after_the_timeout():
    assert await wait_any(asyncio.Event().wait(), timeout=0) is None


async def test_cancelling_the_wait_cancels_what_it_started():
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    waiting = asyncio.create_task(wait_any(wait(), wait()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)
    assert ended == ["cancelled", "cancelled"]
